/**
 * An MCP server that misbehaves on demand, over its standard streams. Its argument says
 * how it starts, the tool that is called how it goes on.
 */
import process, { argv, exit, stderr, stdin, stdout } from "node:process";

type Json = Record<string, unknown>;

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: Json & { readonly _meta?: { progressToken?: number } };
}

const mode = argv.at(-1);
let properties: Json = {};

const misdeeds: Readonly<Record<string, (request: Request) => void>> = {
  echo: (request) => answer(request, "echo"),
  die: () => exit(1),
  leave_a_word() {
    stderr.write(`${"x".repeat(4000)}\nbye\n`, () => exit(1));
  },
  die_in_a_word() {
    stdout.write('{"jsonrpc":"2.0","id":', () => exit(1));
  },
  answer_twice(request) {
    answer(request, "first");
    answer(request, "second");
    send({ id: 4711, result: { secret: "x".repeat(10_000) } });
  },
  talk_garbage(request) {
    stdout.write("Listening on port 80\n{]\n42\n");
    send({ id: null, hello: "world" });
    answer(request, "after garbage");
  },
  never_answer() {},
  never_end_a_line() {
    writeMuch(stdout, 12);
  },
  flood_errors(request) {
    writeMuch(stderr, 32, () => answer(request, "flooded"));
  },
  flood(request) {
    const token = request.params?._meta?.progressToken;
    flood(token, () => answer(request, "flooded"));
  },
  change(request) {
    properties = { value: { type: "number" } };
    notify("notifications/tools/list_changed");
    answer(request, "changed");
  },
};

const manyNames = Array.from(
  { length: 2000 },
  (_, index) =>
    // Some are too long or hold what providers refuse.
    index % 100 === 0 ? `tool ${index} ${"long ".repeat(20)}` : `tool_${index}`,
);

const methods: Readonly<Record<string, (request: Request) => void>> = {
  initialize: (request) =>
    reply(request, {
      protocolVersion: request.params?.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "hostile", version: "1" },
    }),
  "tools/list": (request) => {
    if (mode !== "many") {
      reply(request, { tools: Object.keys(misdeeds).map(toolNamed) });
      return;
    }
    const start = Number(request.params?.cursor ?? 0);
    const end = start + 100;
    reply(request, {
      tools: manyNames.slice(start, end).map(toolNamed),
      ...(end < manyNames.length && { nextCursor: String(end) }),
    });
  },
  "tools/call": (request) => {
    const name = String(request.params?.name);
    if (mode === "many") answer(request, name);
    else misdeeds[name]!(request);
  },
};

if (mode === "unlicensed") {
  stderr.write("License missing\n", () => exit(3));
} else if (mode === "deaf") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
} else {
  if (mode === "garbage") stdout.write("Welcome!\n");
  readLines((line) => {
    const request: Request = JSON.parse(line);
    methods[request.method]?.(request);
  });
}

function toolNamed(name: string): Json {
  return { name, inputSchema: { type: "object", properties } };
}

function answer(request: Request, text: string): void {
  reply(request, { content: [{ type: "text", text }] });
}

function reply({ id }: Request, result: Json): void {
  send({ id, result });
}

function notify(method: string, params: Json = {}): void {
  send({ method, params });
}

function send(message: Json): boolean {
  return stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/** Sends 60 MB of notifications of all kinds, as fast as they are read. */
function flood(progressToken: unknown, done: () => void): void {
  const message = "x".repeat(4096);
  let sentCount = 0;
  function goOn(): void {
    while (sentCount < 15_000) {
      sentCount += 1;
      notify("notifications/tools/list_changed");
      notify("notifications/message", { level: "info", data: "hello" });
      notify("notifications/made_up");
      const progress = { progressToken, progress: sentCount, message };
      if (!send({ method: "notifications/progress", params: progress })) {
        stdout.once("drain", goOn);
        return;
      }
    }
    done();
  }
  goOn();
}

/** Writes megabytes without a line break. */
function writeMuch(
  output: typeof stdout | typeof stderr,
  megabytes: number,
  done: () => void = () => {},
): void {
  if (megabytes === 0) return done();
  output.write("x".repeat(1_000_000), () => {
    writeMuch(output, megabytes - 1, done);
  });
}

function readLines(onLine: (line: string) => void): void {
  let rest = "";
  stdin.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    lines.forEach(onLine);
  }).on("end", () => exit());
}
