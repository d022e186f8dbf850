export function quantile(xs, q) {
  const s = xs.filter((x) => Number.isFinite(x)).sort((a, b) => a - b);
  if (!s.length) return null;
  const at = (s.length - 1) * q;
  const lo = Math.floor(at);
  return s[lo] + (s[Math.min(lo + 1, s.length - 1)] - s[lo]) * (at - lo);
}
export const median = (xs) => quantile(xs, 0.5);

/** Least-squares slope and intercept of y over x. */
export function line(points) {
  const n = points.length;
  const mx = points.reduce((s, p) => s + p[0], 0) / n;
  const my = points.reduce((s, p) => s + p[1], 0) / n;
  let a = 0;
  let b = 0;
  for (const [x, y] of points) {
    a += (x - mx) * (y - my);
    b += (x - mx) ** 2;
  }
  const slope = b ? a / b : 0;
  return { slope, intercept: my - slope * mx };
}
/** Exponent p of T ~ N^p from (N, T) pairs. */
export const exponent = (points) =>
  line(points.map(([n, t]) => [Math.log(n), Math.log(t)])).slope;

/** Deterministic shuffle, so that a run order can be repeated. */
export function shuffled(xs, seed) {
  const out = [...xs];
  let s = (seed * 2654435761) >>> 0 || 1;
  for (let i = out.length - 1; i > 0; i--) {
    s ^= s << 13;
    s >>>= 0;
    s ^= s >>> 17;
    s ^= s << 5;
    s >>>= 0;
    const j = s % (i + 1);
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/** The quartiles of every figure of a cell, by driver; the first error if nothing else came. */
export function summarise({ drivers }) {
  return Object.fromEntries(
    Object.entries(drivers).map(([name, { samples, errors }]) => [
      name,
      samples.length > 0 ? quartiles(samples) : { failed: errors[0] },
    ]),
  );
}

function quartiles(samples) {
  const figures = Object.keys(samples[0])
    .filter((key) => typeof samples[0][key] === "number");
  const summary = { reps: samples.length };
  for (const figure of figures) {
    const values = samples.map((sample) => sample[figure]);
    summary[figure] = {
      min: quantile(values, 0),
      p25: quantile(values, 0.25),
      median: median(values),
      p75: quantile(values, 0.75),
      max: quantile(values, 1),
    };
  }
  return summary;
}

/** About four digits. */
export function formatNumber(x) {
  if (x == null || !Number.isFinite(x)) return "-";
  const size = Math.abs(x);
  const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return x.toFixed(digits);
}
