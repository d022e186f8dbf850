import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { RecordingLogger } from "../../src/testing/ports.ts";
import {
  defineTool,
  toHandlers,
  type ToolInput,
  ToolSet,
} from "../../src/tools/define_tool.ts";
import {
  DuplicateToolError,
  ToolDefinitionError,
  UnknownToolError,
} from "../../src/tools/errors.ts";
import type { InvalidArguments } from "../../src/tools/invalid_arguments.ts";
import { complete, proceed } from "../../src/tools/outcome.ts";
import type { StandardSchema } from "../../src/tools/standard_schema.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

const add = defineTool({
  name: "add",
  parameters: z.object({ left: z.number(), right: z.number() }),
  execute: ({ left, right }) => ({ value: left + right }),
});

const withDefault = defineTool({
  name: "with_default",
  parameters: z.object({
    left: z.number(),
    right: z.number(),
    n: z.number().default(3),
  }),
  execute: (args) => args,
});

/** A schema of a library that cannot describe itself. */
function mute<T>(
  validate: StandardSchema<T>["~standard"]["validate"],
): StandardSchema<T> {
  return { "~standard": { version: 1, vendor: "mute", validate } };
}

test("a tool is called without an agent", { case: "TL-11" }, async () => {
  const outcome = await add.invoke({ left: 19.5, right: 22.5 });
  assertEquals(outcome.data, { value: 42 });
  assertEquals(outcome.control, "continue");
});

test("the model is shown what goes in, without the dialect", {
  case: "TL-12",
}, () => {
  const { parameters } = withDefault.toOpenAITool().function;
  assertEquals(parameters?.type, "object");
  assertEquals<unknown>(parameters?.required, ["left", "right"]);
  assert(!("$schema" in parameters!));
});

test("a JSON Schema that brings its validator along is shown as it is", async () => {
  const schema = z.object({ day: z.coerce.date() });
  const tool = defineTool({
    name: "plan",
    parameters: z.toJSONSchema(schema, {
      unrepresentable: "any",
      override: ({ jsonSchema, path }) => {
        jsonSchema.description = path.length > 0 ? "Mine" : "All mine";
      },
    }),
    execute: ({ day }) => day.getTime(),
  });
  assertEquals(tool.definition.parameters, {
    type: "object",
    description: "All mine",
    properties: { day: { description: "Mine" } },
    required: ["day"],
    additionalProperties: false,
  });
  assertEquals((await tool.invoke({ day: 5 })).data, 5);
  const refused = (await tool.invoke({ day: "never" })).data;
  assertEquals((refused as InvalidArguments).code, "invalid_tool_arguments");
});

test("the validator beside a JSON Schema is not shown", () => {
  const { "~standard": props } = z.object({ left: z.number() });
  const json = { type: "object", properties: { left: { type: "integer" } } };
  const tool = defineTool({
    name: "negate",
    parameters: { ...json, "~standard": props },
    execute: ({ left }) => -left,
  });
  assertEquals<unknown>(tool.definition.parameters, json);
});

test("the implementation gets what comes out of the schema", {
  case: "TL-13",
}, async () => {
  const outcome = await withDefault.invoke({ left: 1, right: 2 });
  assertEquals<unknown>(outcome.data, { left: 1, right: 2, n: 3 });
});

test("a schema that cannot describe itself needs a JSON Schema beside it", {
  case: "TL-15",
}, async () => {
  const parameters = mute<{ n: number }>((value) => ({
    value: value as { n: number },
  }));
  const execute = ({ n }: { n: number }) => n;
  assertThrows(
    () => defineTool({ name: "t", parameters, execute }),
    ToolDefinitionError,
    "jsonSchema",
  );
  const tool = defineTool({
    name: "t",
    parameters,
    jsonSchema: { type: "object" },
    execute,
  });
  assertEquals((await tool.invoke({ n: 1 })).data, 1);
  assertEquals<unknown>(tool.definition.parameters, { type: "object" });
});

test("a schema that is a function works like any other", {
  case: "TL-16",
}, async () => {
  const { "~standard": props } = z.object({ left: z.number() });
  const parameters = Object.assign(() => {}, { "~standard": props });
  const tool = defineTool({
    name: "negate",
    parameters,
    execute: ({ left }) => -left,
  });
  assertEquals((await tool.invoke({ left: 3 })).data, -3);
  assertEquals(tool.definition.parameters?.type, "object");
});

test("arktype schemas join as they are", {
  case: "TL-16",
  runtimes: ["deno", "node", "bun"], // arktype compiles its checks, which Workers forbid.
}, async () => {
  const parameters = type({ left: "number", right: "number" });
  assertEquals(typeof parameters, "function");
  const tool = defineTool({
    name: "subtract",
    parameters,
    execute: ({ left, right }) => left - right,
  });
  assertEquals((await tool.invoke({ left: 3, right: 1 })).data, 2);
  assertEquals(tool.definition.parameters?.type, "object");
  const refused = await tool.invoke({ left: "x", right: 1 } as never);
  assertEquals(
    (refused.data as InvalidArguments).code,
    "invalid_tool_arguments",
  );
});

test("valibot joins through its converter", async () => {
  const tool = defineTool({
    name: "greet",
    parameters: toStandardJsonSchema(v.object({ name: v.string() })),
    execute: ({ name }) => `Hello ${name}`,
  });
  assertEquals((await tool.invoke({ name: "Ada" })).data, "Hello Ada");
  assertEquals<unknown>(tool.definition.parameters?.required, ["name"]);
});

test("a JSON Schema describes and does not check", async () => {
  const tool = defineTool({
    name: "t",
    parameters: {
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
    },
    execute: ({ n }) => n,
  });
  assertEquals<unknown>((await tool.invoke({ n: "x" } as never)).data, "x");
});

test("without parameters the arguments are passed on as they are", async () => {
  const tool = defineTool({ name: "t", execute: (args) => args });
  assertEquals<unknown>((await tool.invoke({ a: 1 })).data, { a: 1 });
  assertEquals(tool.toOpenAITool(), {
    type: "function",
    function: { name: "t" },
  });
});

test("only what a maker made is an outcome", { case: "TL-17" }, async () => {
  const plain = defineTool({
    name: "plain",
    execute: () => ({ control: "complete", data: 1 }),
  });
  const outcome = await plain.invoke({});
  assertEquals(outcome.control, "continue");
  assertEquals<unknown>(outcome.data, { control: "complete", data: 1 });

  const made = defineTool({
    name: "made",
    execute: () => Promise.resolve(complete({ x: 1 })),
  });
  const ended = await made.invoke({});
  assertEquals(ended.control, "complete");
  assertEquals<unknown>(ended.data, { x: 1 });

  const silent = defineTool({ name: "silent", execute: () => {} });
  assertStrictEquals((await silent.invoke({})).data, null);
});

test("refused arguments never reach the implementation", async () => {
  let calls = 0;
  const tool = defineTool({
    name: "t",
    parameters: z.object({
      list: z.array(z.object({ "a/b~c": z.number() })),
    }),
    execute: () => calls++,
  });
  const { data, control } = await tool.invoke({
    list: [{ "a/b~c": "hunter2" }],
  } as never);
  assertEquals<unknown>(data, {
    status: "error",
    tool: "t",
    code: "invalid_tool_arguments",
    errors: [{
      path: "/list/0/a~1b~0c",
      keyword: "schema",
      message: "value is not allowed here",
    }],
  });
  assertEquals(control, "continue");
  assertEquals(calls, 0);
});

test("texts of the schema library are shown on request only", async () => {
  const parameters = mute<unknown>(() =>
    Promise.resolve({
      issues: [
        { message: "not like this", path: [{ key: "a" }, 0, Symbol("s")] },
        { message: "nor like that" },
      ],
    })
  );
  const tool = defineTool({
    name: "t",
    parameters,
    jsonSchema: { type: "object" },
    exposeIssueMessages: true,
    execute: () => null,
  });
  const { data } = await tool.invoke({});
  assertEquals<unknown>((data as { errors: unknown }).errors, [
    { path: "/a/0/Symbol(s)", keyword: "schema", message: "not like this" },
    { path: "", keyword: "schema", message: "nor like that" },
  ]);
});

test("a schema that says nothing has not let the arguments through", async () => {
  const executed: unknown[] = [];
  for (const answer of [undefined, null]) {
    const tool = defineTool({
      name: "t",
      parameters: mute<unknown>(() => answer as never),
      jsonSchema: { type: "object" },
      execute: (args) => executed.push(args),
    });
    await assertRejects(() => tool.invoke({}), TypeError);
  }
  assertEquals(executed, []);
});

test("what a schema throws is logged and not shown", async () => {
  const throwing = [
    mute<unknown>((value) => {
      throw new Error(`s3cret ${JSON.stringify(value)}`);
    }),
    mute<unknown>((value) =>
      Promise.reject(new Error(`s3cret ${JSON.stringify(value)}`))
    ),
  ];
  for (const parameters of throwing) {
    const logger = new RecordingLogger();
    const tool = {
      name: "t",
      parameters,
      jsonSchema: { type: "object" },
      logger,
      execute: () => "done",
    };
    const { data, control } = await defineTool(tool).invoke({ key: 1 });
    assertEquals(control, "continue");
    assertEquals<unknown>(data, {
      status: "error",
      tool: "t",
      code: "invalid_tool_arguments",
      errors: [
        { path: "", keyword: "schema", message: "value is not allowed here" },
      ],
    });
    assertEquals(logger.warnings, [{
      message: 'The schema of tool "t" failed',
      details: { error: 's3cret {"key":1}' },
    }]);
    const exposing = defineTool({ ...tool, exposeIssueMessages: true });
    const shown = (await exposing.invoke({ key: 1 })).data as InvalidArguments;
    assertEquals(shown.errors[0]?.message, 's3cret {"key":1}');
  }
});

test("at most eight issues are shown", async () => {
  const issues = (count: number) =>
    Array.from({ length: count }, () => ({ message: "no" }));
  const refusing = (count: number) =>
    defineTool({
      name: "t",
      parameters: mute<unknown>(() => ({ issues: issues(count) })),
      jsonSchema: { type: "object" },
      execute: () => null,
    });
  const nine = (await refusing(9).invoke({})).data as InvalidArguments;
  assertEquals(nine.errors.length, 8);
  assertEquals(nine.truncated, true);
  const eight = (await refusing(8).invoke({})).data;
  assert(!("truncated" in (eight as object)));
});

test("a schema must describe an object and say how", () => {
  const broken: [string, unknown][] = [
    ["an object", z.string()],
    ["JSON Schema", z.object({ f: z.date() })],
    ["version 1", { "~standard": { version: 2, validate() {} } }],
    ["version 1", { "~standard": { version: 1 } }],
    ["JSON object", [1]],
    ["must describe an object, as { type", { type: "string" }],
    ["properties: { ... } } and z.object(", { city: { type: "string" } }],
    ["must describe an object", { type: { enum: ["a", "b"] } }],
    ["z.object({ ... }) do", { city: z.string(), days: z.number() }],
    ["must describe an object", { type: "array", items: {} }],
    ["must describe an object", { type: ["integer"] }],
  ];
  for (const [text, parameters] of broken) {
    assertThrows(
      () =>
        defineTool({
          name: "t",
          parameters: parameters as never,
          execute: () => 1,
        }),
      ToolDefinitionError,
      text,
    );
  }
});

test("a schema that says less about its root is left to the provider", () => {
  const schemas = [
    {},
    { properties: { f: { type: "string" } } },
    { type: ["object", "null"] },
    { anyOf: [{ type: "object" }] },
    { not: { required: ["f"] } },
    { if: { required: ["f"] }, then: { required: ["g"] } },
    { $defs: { f: {} } },
    { additionalProperties: { type: "string" } },
    { description: "whatever" },
  ];
  for (const parameters of schemas) {
    const tool = defineTool({ name: "t", parameters, execute: () => 1 });
    assertEquals(tool.definition.parameters as unknown, parameters);
  }
  assertThrows(
    () =>
      defineTool({
        name: "t",
        parameters: mute<string>((value) => ({ value: String(value) })),
        jsonSchema: { type: "string" },
        execute: () => 1,
      }),
    ToolDefinitionError,
    'Tool "t"',
  );
});

test("a tool must have an implementation", () => {
  assertThrows(() => defineTool({ name: "t" } as never), TypeError, "execute");
});

test("the context of a lone call is complete", async () => {
  const tool = defineTool({
    name: "look",
    execute: async (_args, context) => {
      await context.progress.report("nobody listens");
      return [
        context.toolName,
        context.signal.aborted,
        context.state.messages,
        context.toolCallId,
        context.scope.get("tenant"),
        context.toolDefinition?.name,
      ];
    },
  });
  assertEquals<unknown>((await tool.invoke({})).data, [
    "look",
    false,
    [],
    undefined,
    undefined,
    "look",
  ]);
  const signal = AbortSignal.abort();
  const given = await tool.invoke({}, { signal, toolCallId: "c1" });
  assertEquals((given.data as unknown[]).slice(1, 4), [true, [], "c1"]);
});

test("a failing implementation rejects", async () => {
  const tool = defineTool({
    name: "t",
    execute: () => {
      throw new RangeError("r");
    },
  });
  await assertRejects(() => tool.invoke({}), RangeError, "r");
});

test("neighbouring tools share a handler, handlers keep their place", () => {
  const sub = defineTool({ name: "sub", execute: () => 1 });
  const mul = defineTool({ name: "mul", execute: () => 1 });
  const handler = new ToolSet([mul]);
  const div = defineTool({ name: "div", execute: () => 1 });
  const handlers = toHandlers([add, [sub, [handler]], div]);
  assertEquals(handlers.map(({ toolNames }) => toolNames), [
    ["add", "sub"],
    ["mul"],
    ["div"],
  ]);
  assertStrictEquals(handlers[1], handler);
});

test("two tools of one list must not share a name", () => {
  const again = defineTool({ name: "add", execute: () => 1 });
  const between = new ToolSet([]);
  const error = assertThrows(
    () => toHandlers([add, between, [again]]),
    DuplicateToolError,
    'duplicate tool "add"',
  );
  assert(error instanceof ToolDefinitionError);
  assertEquals(error.toolName, "add");
  assertThrows(() => new ToolSet([add, again]), DuplicateToolError);
});

test("whatever is neither tool nor handler is refused", () => {
  for (const entry of [null, {}, () => 1, { execute() {} }, "add"]) {
    assertThrows(() => toHandlers([entry as ToolInput]), TypeError);
  }
});

test("a set executes the tool of the name", async () => {
  const set = new ToolSet([
    add,
    defineTool({
      name: "done",
      execute: () => complete("ok"),
    }),
  ]);
  assertEquals(await set.dispatch("done", {}), complete("ok"));
  assertEquals(
    await set.dispatch("add", { left: 1, right: 1 }),
    proceed({
      value: 2,
    }),
  );
  await assertRejects(
    () => set.dispatch("zz", {}),
    UnknownToolError,
    'unknown tool "zz" (available: add, done)',
  );
});
