// Shared pieces of the three floor drivers: no framework, only the loop itself.
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

export const toNative = (msgs) => msgs.map((m) => ({ ...m }));
export const wireTool = (t) => ({
  type: "function",
  function: {
    name: t.name,
    description: t.description,
    parameters: t.parameters,
  },
});

/** Plain JSONL journal, one line per message: 'jsonl' leaves flushing to the OS, 'jsonl-fsync' syncs once per batch. */
export function journal(o) {
  if (!o.persist) return null;
  mkdirSync(o.persist.dir, { recursive: true });
  const file = join(o.persist.dir, `${o.persist.id}.jsonl`);
  if (o.persist.kind === "jsonl") {
    return {
      file,
      add: (...ms) =>
        appendFileSync(file, ms.map((m) => JSON.stringify(m) + "\n").join("")),
      close() {},
    };
  }
  const fd = openSync(file, "a");
  return {
    file,
    add: (...ms) => {
      writeSync(fd, ms.map((m) => JSON.stringify(m) + "\n").join(""));
      fsyncSync(fd);
    },
    close: () => closeSync(fd),
  };
}
export function readJournal(o) {
  const file = join(o.persist.dir, `${o.persist.id}.jsonl`);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").filter(Boolean).map((l) =>
    JSON.parse(l)
  );
}

/** Folds chat-completions chunks into one assistant message; returns a push function and the result getter. */
export function folder(onDelta) {
  let text = "";
  const calls = [];
  let usage = null;
  return {
    push(chunk) {
      if (chunk.usage) usage = chunk.usage;
      const d = chunk.choices[0]?.delta;
      if (!d) return;
      if (d.content) {
        text += d.content;
        onDelta?.(d.content);
      }
      if (d.tool_calls) {
        for (const t of d.tool_calls) {
          const c = (calls[t.index] ??= { id: "", name: "", args: "" });
          if (t.id) c.id = t.id;
          if (t.function?.name) c.name += t.function.name;
          if (t.function?.arguments) c.args += t.function.arguments;
        }
      }
    },
    end() {
      return { text, calls, usage };
    },
  };
}
export const assistantMessage = (r) => ({
  role: "assistant",
  content: r.text,
  ...(r.calls.length
    ? {
      tool_calls: r.calls.map((c) => ({
        id: c.id,
        type: "function",
        function: { name: c.name, arguments: c.args },
      })),
    }
    : {}),
});
export const runCalls = (calls, tool) =>
  Promise.all(
    calls.map(async (c) => ({
      role: "tool",
      tool_call_id: c.id,
      content: await tool.execute(JSON.parse(c.args)),
    })),
  );

/** The in-process model for floors: no transport at all, same events. */
export async function fakeTurn(fake, onDelta) {
  const t = fake.next();
  let text = "";
  for (const d of t.text) {
    text += d;
    onDelta?.(d);
  }
  return { text, calls: t.calls, usage: t.usage };
}

/** The whole agent loop; `ask(messages, onDelta)` does one model request. */
export function loopAgent(o, ask) {
  const messages = [
    { role: "system", content: o.system },
    ...(o.history ?? []),
  ];
  const log = journal(o);
  return {
    messages,
    async run(input, onDelta) {
      const user = { role: "user", content: input };
      messages.push(user);
      log?.add(user);
      for (let turn = 0; turn < o.maxTurns; turn++) {
        const r = o.fake
          ? await fakeTurn(o.fake, onDelta)
          : await ask(messages, onDelta);
        const a = assistantMessage(r);
        messages.push(a);
        if (!r.calls.length) {
          log?.add(a);
          return { text: r.text };
        }
        const results = await runCalls(r.calls, o.tool);
        for (const m of results) messages.push(m);
        log?.add(a, ...results);
      }
      throw new Error("turn limit");
    },
    count: () => messages.length - 1,
    async close() {
      log?.close();
    },
  };
}
