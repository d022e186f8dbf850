import {
  isToolDefinition,
  normalizeToolDefinition,
  ToolDefinition,
  toolDefinitionsEqual,
} from "../../src/tools/definition.ts";
import { ToolDefinitionError } from "../../src/tools/errors.ts";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

// Wrong types are the point here.
// deno-lint-ignore no-explicit-any
type Any = any;

const searchTool = {
  type: "function",
  function: {
    name: "search",
    description: "Search.",
    parameters: { type: "object", properties: { query: { type: "string" } } },
    strict: true,
  },
};

function searchDefinition(): { definition: ToolDefinition; parameters: Any } {
  const parameters = {
    type: "object",
    properties: { query: { type: "string" } },
  };
  const definition = new ToolDefinition({
    name: "search",
    description: "Search.",
    parameters,
    effect: "read_only",
    strict: true,
  });
  return { definition, parameters };
}

test(
  "a definition keeps its own copy of the schema and hides the effect from the provider",
  {
    case: "TL-1",
  },
  () => {
    const { definition, parameters } = searchDefinition();
    parameters.properties.query.type = "integer";
    assertEquals<unknown>(definition.toOpenAITool(), searchTool);
    assert(!JSON.stringify(definition.toOpenAITool()).includes("read_only"));
  },
);

test("the provider's form is a fresh copy every time", { case: "TL-2" }, () => {
  const { definition } = searchDefinition();
  const tool: Any = definition.toOpenAITool();
  tool.function.parameters.properties.query.type = "boolean";
  assertEquals<unknown>(definition.toOpenAITool(), searchTool);
});

test("absent members stay absent", { case: "TL-3" }, () => {
  const minimal = {
    type: "function",
    function: { name: "minimal" },
  } as const;
  assertEquals(ToolDefinition.fromOpenAITool(minimal).toOpenAITool(), minimal);
  assertEquals(
    Object.keys(ToolDefinition.fromOpenAITool(minimal).toOpenAITool().function),
    ["name"],
  );
});

test(
  "an empty description and a false strict are kept, members in a fixed order",
  {
    case: "TL-4",
  },
  () => {
    const definition = new ToolDefinition({
      strict: false,
      description: "",
      name: "t",
    });
    assertEquals(
      JSON.stringify(definition.toOpenAITool()),
      '{"type":"function","function":{"name":"t","description":"","strict":false}}',
    );
  },
);

test("names are 1 to 64 ASCII letters, digits, underscores and dashes", {
  case: "TL-5",
}, () => {
  const wrong = ["", "invalid name", "x".repeat(65), "é", "a\n", "a.b", 5];
  for (const name of wrong) {
    assertThrows(
      () => new ToolDefinition({ name: name as string }),
      ToolDefinitionError,
      "name",
    );
  }
  for (const name of ["x".repeat(64), "a-b_C9"]) {
    assertEquals(new ToolDefinition({ name }).name, name);
  }
});

test("parameters are plain JSON objects", { case: "TL-6" }, () => {
  const cyclic: Any = {};
  cyclic.self = { cyclic };
  const wrong: Any[] = [
    [],
    { bad: new Set([1]) },
    { bad: NaN },
    { bad: [1, undefined] },
    { bad: Infinity },
    { bad: 10n },
    { f() {} },
    { bad: Symbol("s") },
    { bad: new Date(0) },
    cyclic,
    new Map(),
    "{}",
    new (class Schema {})(),
  ];
  for (const parameters of wrong) {
    const error = assertThrows(
      () => new ToolDefinition({ name: "t", parameters }),
      ToolDefinitionError,
      "parameters",
    );
    assertEquals(error.toolName, "t");
  }
  const dropped = new ToolDefinition({
    name: "t",
    parameters: { a: undefined },
  });
  assertEquals(JSON.stringify(dropped.parameters), "{}");
  assertEquals<Any>(
    new ToolDefinition({ name: "t", parameters: Object.create(null) })
      .parameters,
    {},
  );
});

test("a key __proto__ is an ordinary member of the schema", () => {
  const parameters = JSON.parse(
    '{"properties":{"__proto__":{"type":"string"}}}',
  );
  const definition = new ToolDefinition({ name: "t", parameters });
  assertEquals(
    JSON.stringify(definition.toOpenAITool().function.parameters),
    '{"properties":{"__proto__":{"type":"string"}}}',
  );
});

test("a schema is passed on whole, references included", {
  case: "B81",
}, () => {
  const parameters = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { root: { $ref: "#/$defs/node" } },
    required: ["root"],
    $defs: {
      node: {
        type: "object",
        properties: { children: { items: { $ref: "#/$defs/node" } } },
      },
    },
    "x-vendor": [null, { deep: true }],
  };
  const definition = new ToolDefinition({ name: "t", parameters });
  const tool = definition.toOpenAITool();
  assertEquals<unknown>(tool.function.parameters, parameters);
  assertEquals<unknown>(
    ToolDefinition.fromOpenAITool(tool).parameters,
    parameters,
  );
});

test("effect, strict and description are checked", { case: "TL-7" }, () => {
  const wrong: Any[] = [
    { effect: "readonly" },
    { strict: "yes" },
    { description: 1 },
  ];
  for (const member of wrong) {
    assertThrows(
      () => new ToolDefinition({ name: "t", ...member }),
      ToolDefinitionError,
      Object.keys(member)[0]!,
    );
  }
  const accepted = new ToolDefinition({ name: "t", effect: "read_only" });
  assertEquals(accepted.effect, "read_only");
  assertEquals(new ToolDefinition({ name: "t" }).effect, "side_effecting");
});

test("null counts as absent", () => {
  const init: Any = {
    name: "t",
    description: null,
    parameters: null,
    effect: null,
    strict: null,
  };
  assertEquals({ ...new ToolDefinition(init) }, {
    name: "t",
    description: undefined,
    parameters: undefined,
    effect: "side_effecting",
    strict: undefined,
  });
});

test("only function tools are read, and what they do not define is ignored", {
  case: "TL-8",
}, () => {
  const wrong: Any[] = [
    { type: "custom" },
    { type: "function", function: [] },
    { type: "function", function: {} },
    { type: "function" },
    null,
  ];
  for (const tool of wrong) {
    assertThrows(
      () => ToolDefinition.fromOpenAITool(tool),
      ToolDefinitionError,
    );
  }
  const extra: Any = { type: "function", x: 1, function: { name: "t", y: 2 } };
  assertEquals(
    ToolDefinition.fromOpenAITool(extra, { effect: "read_only" }),
    new ToolDefinition({ name: "t", effect: "read_only" }),
  );
});

test("a definition is frozen all the way down", { case: "TL-9" }, () => {
  const definition: Any = new ToolDefinition({
    name: "t",
    parameters: {
      type: "object",
      properties: { query: { type: "string" } },
      required: ["query"],
    },
  });
  const writes = [
    () => definition.parameters.properties.query.type = "x",
    () => definition.parameters.type = "array",
    () => definition.parameters.required[0] = "x",
    () => definition.parameters.required.push("x"),
    () => definition.name = "x",
  ];
  for (const write of writes) assertThrows(write, TypeError);
});

test("the caller's schema stays his own and is not frozen", () => {
  const { parameters } = searchDefinition();
  assert(!Object.isFrozen(parameters));
  assert(!Object.isFrozen(parameters.properties.query));
});

test("another effect makes another definition", { case: "TL-10" }, () => {
  const definition = new ToolDefinition({
    name: "t",
    description: "d",
    parameters: { type: "object" },
    strict: true,
  });
  assertStrictEquals(normalizeToolDefinition(definition), definition);
  const changed = normalizeToolDefinition(definition, { effect: "read_only" });
  assertEquals({ ...changed }, { ...definition, effect: "read_only" });
  assertEquals(definition.effect, "side_effecting");
  assertThrows(
    () => definition.withEffect("none" as Any),
    ToolDefinitionError,
    "effect",
  );
});

test("a bare description and the provider's form come to the same", () => {
  const bare = normalizeToolDefinition({ name: "t" }, { effect: "read_only" });
  const wrapped = normalizeToolDefinition(
    { type: "function", function: { name: "t" } },
    { effect: "read_only" },
  );
  assert(toolDefinitionsEqual(bare, wrapped));
  assert(!toolDefinitionsEqual(bare, new ToolDefinition({ name: "t" })));
  assertNotEquals(bare, new ToolDefinition({ name: "u" }));
});

test("definitions of another copy of the package are known by their brand", () => {
  const foreign: Any = Object.create({
    [Symbol.for("ejagent.ToolDefinition")]: true,
  });
  assert(isToolDefinition(foreign));
  assertStrictEquals(normalizeToolDefinition(foreign), foreign);
  assert(!isToolDefinition({ name: "t" }));
});

test("error texts never print the schema", () => {
  const error = assertThrows(
    () =>
      new ToolDefinition({
        name: "t",
        parameters: { secret: "hunter2", bad: NaN },
      }),
    ToolDefinitionError,
  );
  assert(!error.message.includes("hunter2"));
  assertEquals(error.code, "tool_definition");
});
