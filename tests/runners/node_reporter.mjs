/** Reporter for `node --test`: every failure in full, whatever a test prints, then the counts. */
export default async function* report(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    if (type === "test:stdout" || type === "test:stderr") yield data.message;
    // A test that goes on after its end is only named in a diagnostic of its file.
    if (type === "test:diagnostic" && /^(Error|Warning):/.test(data.message)) {
      yield `${data.message}\n`;
    }
    if (type === "test:pass") {
      counts[data.skip === undefined ? "passed" : "skipped"] += 1;
    }
    if (type === "test:fail") {
      counts.failed += 1;
      yield `\nFAILED ${data.name} (${data.file})\n${
        describe(data.details.error)
      }\n`;
    }
  }
  for (const [name, count] of Object.entries(counts)) {
    yield `${name} ${count}\n`;
  }
}

/** The runner wraps what a test threw; the cause is what the reader looks for. */
function describe(error) {
  const thrown = error.cause ?? error;
  return thrown.stack ?? String(thrown);
}
