import type { JsonObject } from "../../src/base/json.ts";
import { compileJsonSchema } from "../../src/validation/compile.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { ToolSchemaConfigurationError } from "../../src/tools/schema_error.ts";
import type { JsonSchemaCompiler } from "../../src/validation/compiler.ts";
import {
  ToolSchemaValidationMiddleware,
  type ToolSchemaValidationOptions,
} from "../../src/validation/middleware.ts";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { callThrough, toolWith } from "./calls.ts";

const transfer = {
  type: "object",
  properties: {
    to: { type: "string" },
    amount: { type: "number", minimum: 0 },
    currency: { type: "string", enum: ["USD", "CNY"] },
  },
  required: ["to", "amount", "currency"],
  additionalProperties: false,
};

/** What the model reads; undefined if the arguments reached the tool. */
async function refusal(
  schema: JsonObject,
  args: Record<string, unknown>,
  options: ToolSchemaValidationOptions = {},
) {
  const layer = new ToolSchemaValidationMiddleware(options);
  const tool = toolWith(schema);
  layer.configureTools([tool]);
  const { outcome, reached } = await callThrough(layer, tool, args);
  assertEquals(outcome.control, "continue");
  return reached ? undefined : outcome.data as {
    errors: { path: string; keyword: string }[];
    truncated?: true;
  };
}

async function places(
  schema: JsonObject,
  args: Record<string, unknown>,
  options: ToolSchemaValidationOptions = {},
) {
  const refused = await refusal(schema, args, options);
  return refused?.errors.map(({ path, keyword }) => `${path} ${keyword}`) ?? [];
}

test("a wrong type is told by place and keyword, never by value", {
  case: "TL-115",
}, async () => {
  const args = { to: "alice", amount: "secret-token", currency: "USD" };
  const text = JSON.stringify(await refusal(transfer, args));
  assertEquals(
    text,
    JSON.stringify({
      status: "error",
      tool: "transfer",
      code: "invalid_tool_arguments",
      errors: [{
        path: "/amount",
        keyword: "type",
        message: "value does not match the required type",
      }],
    }),
  );
});

test("missing properties are told one by one, in the order of the schema", {
  case: "TL-116",
}, async () => {
  const refused = await refusal(transfer, {});
  assertEquals(
    refused?.errors,
    ["/to", "/amount", "/currency"].map((path) => ({
      path,
      keyword: "required",
      message: "missing required property",
    })),
  );
});

test("neither values nor names that are too many are repeated", {
  case: "TL-117",
}, async () => {
  const args = { to: "a", amount: 1, currency: "EUR", unexpected: "s3cret" };
  const text = JSON.stringify((await refusal(transfer, args))?.errors);
  assertEquals(
    text,
    JSON.stringify([
      {
        path: "",
        keyword: "additionalProperties",
        message: "object has properties that are not allowed",
      },
      {
        path: "/currency",
        keyword: "enum",
        message: "value is not one of the allowed values",
      },
    ]),
  );
  for (const word of ["EUR", "s3cret", "unexpected", "USD"]) {
    assert(!text.includes(word), word);
  }
});

test("a fault deep inside is told by its whole path", {
  case: "TL-119",
}, async () => {
  const schema = {
    properties: {
      items: {
        type: "array",
        items: { properties: { count: { type: "integer" } } },
      },
    },
  };
  assertEquals(await places(schema, { items: [{ count: "many" }] }), [
    "/items/0/count type",
  ]);
});

test("only the first errors are shown, and that there are more", {
  case: "TL-120",
}, async () => {
  const one = await refusal(transfer, {}, { maxErrors: 1 });
  assertEquals(one?.errors.map((error) => error.path), ["/to"]);
  assertEquals(Object.keys(one ?? {}).at(-1), "truncated");
  assertEquals(one?.truncated, true);

  const three = await refusal(transfer, {}, { maxErrors: 3 });
  assertEquals(three?.errors.length, 3);
  assert(!("truncated" in (three ?? {})));
});

test("errors are sorted before they are cut", async () => {
  const schema = {
    properties: { z: { type: "string" }, a: { type: "string" } },
  };
  const shown = await places(schema, { z: 1, a: 1 }, { maxErrors: 1 });
  assertEquals(shown, ["/a type"]);
});

test("a tool without a schema takes anything", { case: "TL-121" }, async () => {
  const layer = new ToolSchemaValidationMiddleware();
  const tool = toolWith(undefined);
  layer.configureTools([tool]);
  const args = { anything: 1 };
  assert((await callThrough(layer, tool, args)).reached);
  assert((await callThrough(layer, undefined, args)).reached);
});

test("a broken schema is found when the tools are configured", () => {
  const layer = new ToolSchemaValidationMiddleware();
  const broken = toolWith({ type: "not-a-json-schema-type" }, "ping");
  const error = assertThrows(
    () => layer.configureTools([toolWith(transfer), broken]),
    ToolSchemaConfigurationError,
    'Tool "ping" has an invalid parameters schema at "/type"',
  );
  assertEquals(error.toolName, "ping");
  assertEquals(error.pointer, "/type");
  assertEquals(error.code, "tool_schema_configuration");
  assert(error.cause instanceof Error);
  assert(!error.message.includes("not-a-json"));
});

test("a broken schema of a third party can be left unchecked", async () => {
  const logger = new RecordingLogger();
  const layer = new ToolSchemaValidationMiddleware({
    onInvalidSchema: "skip",
    logger,
  });
  const broken = toolWith({ type: "not-a-json-schema-type" }, "ping");
  layer.configureTools([broken, toolWith(transfer)]);
  layer.configureTools([broken]);

  assert((await callThrough(layer, broken, { any: 1 })).reached);
  assert(!(await callThrough(layer, toolWith(transfer), {})).reached);
  assertEquals(logger.warnings.length, 1);
  assertStringIncludes(logger.warnings[0]?.message ?? "", '"ping"');
});

test("an unknown version of JSON Schema is a warning", async () => {
  const logger = new RecordingLogger();
  const schema = {
    $schema: "https://example.com/my-dialect",
    prefixItems: [true],
    properties: { a: { type: "string" } },
  };
  assertEquals(await places(schema, { a: 1 }, { logger }), ["/a type"]);
  assertEquals(logger.warnings.length, 1);
});

test("patterns can be left out for tools of others", async () => {
  const schema = {
    properties: { code: { type: "string", pattern: "^a+$" } },
  };
  const reaches = async (code: unknown, options = {}) => {
    const layer = new ToolSchemaValidationMiddleware(options);
    const { reached } = await callThrough(layer, toolWith(schema), { code });
    return reached;
  };
  assert(!await reaches("b"));
  assert(await reaches("b", { patterns: "ignore" }));
  assert(!await reaches(1, { patterns: "ignore" }));
});

test("an address that is too long to be looked at is no address", () => {
  const validate = compileJsonSchema({ format: "url" }, { formats: "assert" });
  const address = (length: number) => "http://a.example/".padEnd(length, "b");
  assertEquals(validate(address(8000)), []);
  assertEquals(validate(address(8001)), [{ path: "", keyword: "format" }]);
  assertEquals(validate("no address"), [{ path: "", keyword: "format" }]);
  assertEquals(validate(1), []);
});

test("formats are annotations unless they are asserted", {
  case: "TL-127",
}, async () => {
  const schema = {
    properties: {
      a: { type: "string", format: "email" },
      format: { type: "string" },
      b: { const: { format: "x" } },
      c: { format: "__proto__" },
    },
  };
  const args = { a: "nope", format: 5, b: { format: "x" }, c: "x" };
  assertEquals(await places(schema, args), ["/format type"]);
  assertEquals(await places(schema, args, { formats: "assert" }), [
    "/a format",
    "/format type",
  ]);
});

test("odd property names are written as a JSON Pointer", {
  case: "TL-129",
}, async () => {
  const names = ["a/b", "m~n", "sp ace", "é%", "h#x"];
  const schema = {
    properties: Object.fromEntries(
      names.map((name) => [name, { type: "string" }]),
    ),
  };
  const args = Object.fromEntries(names.map((name) => [name, 1]));
  assertEquals(await places(schema, args), [
    "/a~1b type",
    "/h#x type",
    "/m~0n type",
    "/sp ace type",
    "/é% type",
  ]);
});

test("items are sorted by their number", { case: "TL-130" }, async () => {
  const schema = { properties: { l: { items: { type: "integer" } } } };
  const wrongAt = (...wrong: number[]) => ({
    l: Array.from({ length: 12 }, (_, i) => wrong.includes(i) ? "x" : i),
  });
  assertEquals(await places(schema, wrongAt(1, 10, 11)), [
    "/l/1 type",
    "/l/10 type",
    "/l/11 type",
  ]);
  assertEquals(await places(schema, wrongAt(2, 10)), [
    "/l/2 type",
    "/l/10 type",
  ]);
});

test("an object's own errors stand before those of its members", async () => {
  const schema = {
    properties: { a: { type: "string" }, b: { required: ["x"] } },
    required: ["z"],
    maxProperties: 1,
  };
  assertEquals(await places(schema, { a: 1, b: {} }), [
    " maxProperties",
    "/z required",
    "/a type",
    "/b/x required",
  ]);
});

test("one definition serves two middlewares, one sub-schema two places", {
  case: "TL-134",
}, async () => {
  const name = { type: "string", minLength: 2 };
  const tool = toolWith({ properties: { first: name, last: name } });
  for (let round = 0; round < 2; round++) {
    const layer = new ToolSchemaValidationMiddleware();
    layer.configureTools([tool]);
    assert(
      (await callThrough(layer, tool, { first: "ab", last: "cd" })).reached,
    );
    const { outcome } = await callThrough(layer, tool, { first: "a", last: 1 });
    const { errors } = outcome.data as { errors: { path: string }[] };
    assertEquals(errors.map((error) => error.path), ["/first", "/last"]);
  }
});

test("numbers and lengths mean what JSON Schema says", {
  case: "TL-136",
}, async () => {
  const schema = {
    properties: {
      count: { type: "integer" },
      text: { maxLength: 1 },
      step: { multipleOf: 0.1 },
    },
  };
  assertEquals(await places(schema, { count: 1.0, text: "😀", step: 0.3 }), []);
  assertEquals(await places(schema, { count: true, text: "ab", step: 0.35 }), [
    "/count type",
    "/step multipleOf",
    "/text maxLength",
  ]);
});

test("a tool that comes back with another schema is checked by the new one", async () => {
  const layer = new ToolSchemaValidationMiddleware();
  const before = toolWith({ required: ["a"] });
  const after = toolWith({ required: ["b"] });
  layer.configureTools([before]);
  assert(!(await callThrough(layer, after, { a: 1 })).reached);
  assert((await callThrough(layer, after, { b: 1 })).reached);
  assert((await callThrough(layer, before, { a: 1 })).reached);
});

test("a value that the engine cannot cope with is refused as a whole", async () => {
  const whole = [{
    path: "",
    keyword: "schema",
    message: "value is not allowed here",
  }];
  const node = { properties: { next: { $ref: "#" } } };
  let deep: Record<string, unknown> = {};
  for (let depth = 0; depth < 50_000; depth++) deep = { next: deep };
  assertEquals((await refusal(node, deep))?.errors, whole);

  const texts = { additionalProperties: { type: "string" } };
  assertEquals((await refusal(texts, { "\ud800": 1 }))?.errors, whole);
  assertEquals((await refusal(texts, { a: undefined }))?.errors, whole);
});

test("very many errors never let a call through", async () => {
  const schema = { properties: { l: { items: { type: "string" } } } };
  const args = { l: Array.from({ length: 300_000 }, () => 1) };
  // Some engines overflow while they collect so many, some do not.
  assert((await refusal(schema, args, { maxErrors: 1 }))?.errors.length === 1);
});

test("another engine can be plugged in", async () => {
  const seen: unknown[] = [];
  const compiler: JsonSchemaCompiler = {
    compile(schema, options) {
      seen.push(schema, options);
      return () => [
        { path: "/b", keyword: "x-own" },
        { path: "", keyword: "required", missing: "a/b" },
      ];
    },
  };
  const schema = { $schema: "http://json-schema.org/draft-06/schema" };
  const refused = await refusal(schema, {}, { compiler, formats: "assert" });
  assertEquals(seen, [schema, {
    draft: "7",
    formats: "assert",
    patterns: "apply",
  }]);
  assertEquals(refused?.errors, [
    {
      path: "/a~1b",
      keyword: "required",
      message: "missing required property",
    },
    {
      path: "/b",
      keyword: "x-own",
      message: "value does not satisfy the tool schema",
    },
  ] as never);
});

test("an engine that cannot compile a schema breaks the configuration", () => {
  const compiler: JsonSchemaCompiler = {
    compile() {
      throw new Error("no room");
    },
  };
  const layer = new ToolSchemaValidationMiddleware({ compiler });
  const error = assertThrows(
    () => layer.configureTools([toolWith({}, "ping")]),
    ToolSchemaConfigurationError,
    "no room",
  );
  assertEquals(error.pointer, "");
});

test("wrong options are refused at once", () => {
  const build = (options: unknown) => () =>
    new ToolSchemaValidationMiddleware(options as ToolSchemaValidationOptions);
  assertThrows(build({ maxErrors: 0 }), RangeError, "maxErrors");
  assertThrows(build({ maxErrors: 1.5 }), TypeError, "maxErrors");
  assertThrows(build({ formats: "strict" }), TypeError, "formats");
  assertThrows(build({ patterns: "strict" }), TypeError, "patterns");
  assertThrows(build({ onInvalidSchema: "log" }), TypeError, "onInvalidSchema");
  assertThrows(build({ enabled: 1 }), TypeError, "enabled");
  assertThrows(build({ name: " " }), RangeError, "name");
  assertThrows(build({ compiler: {} }), TypeError, "compile");
});

test("no code is generated", { case: "B79" }, async () => {
  const { eval: evaluate, Function: construct } = globalThis;
  const forbid = () => {
    throw new EvalError("code generation is forbidden");
  };
  const forbidden = new Proxy(construct, { apply: forbid, construct: forbid });
  Object.assign(globalThis, { eval: forbid, Function: forbidden });
  try {
    assertEquals(await places(transfer, {}), [
      "/to required",
      "/amount required",
      "/currency required",
    ]);
  } finally {
    Object.assign(globalThis, { eval: evaluate, Function: construct });
  }
});

test("definitions are used whole, also by schemas that contain themselves", {
  case: "B81",
}, async () => {
  const schema = {
    $defs: {
      node: {
        type: "object",
        properties: {
          value: { type: "integer" },
          next: { $ref: "#/$defs/node" },
        },
        required: ["value"],
      },
    },
    properties: { head: { $ref: "#/$defs/node" } },
  };
  const list = { value: 1, next: { value: 2, next: { value: "three" } } };
  assertEquals(await places(schema, { head: list }), [
    "/head/next/next/value type",
  ]);
});
