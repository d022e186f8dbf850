// Finds the drivers: every peers/*/driver*.mjs whose packages are installed.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "../peers/ejagent/build.mjs";
import { newestNode, root } from "./runtimes.mjs";

const order = [
  "floor-bytes",
  "floor-fetch",
  "floor-openai-raw",
  "floor-openai",
  "ejagent",
  "ejagent-openai",
];

/** All drivers, floors and ours first; `more` are files outside `peers/`. */
export async function findDrivers(more = []) {
  await build();
  const files = [
    ...readdirSync(join(root, "peers"), { recursive: true })
      .filter((file) => /^[^/\\]+[/\\]driver[^/\\]*\.(mjs|ts)$/.test(file))
      .map((file) => join(root, "peers", file)),
    ...more.map((file) => resolve(file)),
  ];
  const rank = ({ name }) => {
    const place = order.indexOf(name);
    return place < 0 ? order.length : place;
  };
  const drivers = files.sort().map(readDriver);
  const absent = drivers.filter(({ info }) => info === undefined);
  if (absent.length > 0) {
    const names = absent.map(({ file }) => relative(root, file));
    console.error(`Left out, packages not installed: ${names.join(", ")}`);
  }
  return drivers
    .filter(({ info }) => info !== undefined)
    .map(({ info, ...place }) => ({ ...info, ...place }))
    .sort((a, b) => rank(a) - rank(b));
}

// In a process of its own: the one that measures may be too old for a peer.
function readDriver(file) {
  const url = JSON.stringify(pathToFileURL(file).href);
  const program = `
    const { info, minimal = null } = await import(${url});
    console.log("\\n@@INFO " + JSON.stringify({ info, minimal }));
    process.exit(0);`;
  try {
    const text = execFileSync(
      newestNode,
      ["--input-type=module", "-e", program],
      { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
    );
    const { info, minimal } = JSON.parse(text.split("@@INFO ").at(-1));
    const folder = dirname(file);
    const versions = versionsOf(folder, info.packages ?? []);
    return { info, minimal, file, dir: folder, versions };
  } catch {
    return { file };
  }
}

function versionsOf(folder, packages) {
  const manifests = packages
    .map((name) => [name, join(folder, "node_modules", name, "package.json")])
    .filter(([, file]) => existsSync(file));
  return Object.fromEntries(manifests.map(([name, file]) => [
    name,
    JSON.parse(readFileSync(file, "utf8")).version,
  ]));
}
