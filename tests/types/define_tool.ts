/**
 * What the compiler must know, and must refuse, about tools. Checked by
 * `deno check`, never run.
 *
 * @module
 */

import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import type { JsonObject } from "../../src/base/json.ts";
import {
  type DefinedTool,
  defineTool,
  type ToolInput,
} from "../../src/tools/define_tool.ts";
import { ToolDefinition } from "../../src/tools/definition.ts";
import { MethodToolHandler } from "../../src/tools/handler.ts";
import type { InferJsonSchema } from "../../src/tools/infer_schema.ts";
import type { InvalidArguments } from "../../src/tools/invalid_arguments.ts";
import { complete, type StepOutcome } from "../../src/tools/outcome.ts";
import type { StandardSchema } from "../../src/tools/standard_schema.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends
  (<T>() => T extends B ? 1 : 2) ? true : false;

/** Compiles only if both types are the same. */
function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [never]): void {}

// zod: the implementation gets what comes out, the caller gives what goes in.
const withZod = defineTool({
  name: "zod",
  parameters: z.object({
    left: z.number(),
    text: z.string().optional(),
    n: z.number().default(3),
    size: z.string().transform((value) => value.length),
  }),
  execute: (args, context) => {
    same<
      typeof args,
      { left: number; text?: string | undefined; n: number; size: number }
    >();
    same<typeof context.signal, AbortSignal>();
    context.progress.report("always there");
    // @ts-expect-error The schema knows no such member.
    args.missing;
    return { value: args.left };
  },
});
withZod.invoke({ left: 1, size: "four" });
// @ts-expect-error A member that is required.
withZod.invoke({ left: 1 });
// @ts-expect-error A member of another type.
withZod.invoke({ left: "1", size: "four" });

// arktype: schemas are functions.
const withArktype = defineTool({
  name: "arktype",
  parameters: type({ left: "number", "right?": "string" }),
  execute: (args) => {
    same<typeof args, { left: number; right?: string }>();
    return args.left;
  },
});
withArktype.invoke({ left: 1, right: "x" });
// @ts-expect-error A member that is required.
withArktype.invoke({});

// valibot: through its converter.
const withValibot = defineTool({
  name: "valibot",
  parameters: toStandardJsonSchema(
    v.object({ name: v.string(), tags: v.optional(v.array(v.string())) }),
  ),
  execute: (args) => {
    same<typeof args.name, string>();
    same<typeof args.tags, string[] | undefined>();
  },
});
withValibot.invoke({ name: "x" });
// @ts-expect-error A member of another type.
withValibot.invoke({ name: 1 });

// A Standard Schema of any other library, with a schema beside it.
declare const other: StandardSchema<{ n: string }, { n: number }>;
const withOther = defineTool({
  name: "other",
  parameters: other,
  jsonSchema: { type: "object" },
  execute: ({ n }) => n.toFixed(),
});
withOther.invoke({ n: "1" });
// @ts-expect-error What comes out is not what goes in.
withOther.invoke({ n: 1 });

// A JSON Schema literal, without `as const`.
const withLiteral = defineTool({
  name: "literal",
  parameters: {
    type: "object",
    properties: {
      id: { type: "integer" },
      name: { type: ["string", "null"] },
      mode: { enum: ["fast", "slow", 3] },
      kind: { const: "file" },
      tags: { type: "array", items: { type: "string" } },
      nested: {
        type: "object",
        properties: { flag: { type: "boolean" } },
        required: ["flag"],
      },
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
      free: { type: "object" },
      list: { type: "array" },
      strange: { not: { type: "string" } },
      referred: { $ref: "#/$defs/x" },
    },
    required: ["id", "name", "mode", "kind", "tags", "nested"],
    $defs: { x: { type: "string" } },
    additionalProperties: false,
  },
  execute: (args) => {
    same<typeof args, {
      id: number;
      name: string | null;
      mode: "fast" | "slow" | 3;
      kind: "file";
      tags: string[];
      nested: { flag: boolean };
      either?: string | number;
      free?: Record<string, unknown>;
      list?: unknown[];
      strange?: unknown;
      referred?: unknown;
    }>();
  },
});
withLiteral.invoke({
  id: 1,
  name: null,
  mode: "fast",
  kind: "file",
  tags: [],
  nested: { flag: true },
});
withLiteral.invoke({
  id: 1,
  name: null,
  // @ts-expect-error No such alternative.
  mode: "medium",
  kind: "file",
  tags: [],
  nested: { flag: true },
});

// A schema that the compiler knows nothing about, a schema of nothing, no schema.
declare const loaded: JsonObject;
defineTool({
  name: "loaded",
  parameters: loaded,
  execute: (args) => same<typeof args, Record<string, unknown>>(),
});
defineTool({
  name: "empty",
  parameters: {},
  execute: (args) => same<typeof args, Record<string, unknown>>(),
});
const without = defineTool({
  name: "none",
  execute: (args) => same<typeof args, Record<string, unknown>>(),
});
without.invoke({ anything: 1 });

// JSON Schemas that libraries made: beside a schema they change no types, in its place
// they carry the types of zod and no others.
const zodSchema = z.object({ day: z.coerce.date() });
const valibotSchema = v.object({ name: v.string() });
const arktypeSchema = type({ name: "string" });
defineTool({
  name: "zod",
  parameters: zodSchema,
  jsonSchema: z.toJSONSchema(zodSchema, { unrepresentable: "any" }),
  execute: (args) => same<typeof args, { day: Date }>(),
});
defineTool({
  name: "valibot",
  parameters: valibotSchema,
  jsonSchema: toJsonSchema(valibotSchema),
  execute: (args) => same<typeof args, { name: string }>(),
});
defineTool({
  name: "arktype",
  parameters: arktypeSchema,
  jsonSchema: arktypeSchema.toJsonSchema(),
  execute: (args) => same<typeof args, { name: string }>(),
});
defineTool({
  name: "zod",
  parameters: z.toJSONSchema(zodSchema, { unrepresentable: "any" }),
  execute: (args) => same<typeof args, { day: Date }>(),
});
defineTool({
  name: "valibot",
  parameters: toJsonSchema(valibotSchema),
  execute: (args) => same<typeof args, Record<string, unknown>>(),
});
defineTool({
  name: "arktype",
  parameters: arktypeSchema.toJsonSchema(),
  execute: (args) => same<typeof args, Record<string, unknown>>(),
});
declare const record: Record<string, unknown>;
defineTool({
  name: "record",
  parameters: record,
  jsonSchema: record,
  execute: (args) => same<typeof args, Record<string, unknown>>(),
});
interface Described {
  readonly type: "object";
  readonly properties: { readonly a: { readonly type: "string" } };
}
declare const described: Described;
defineTool({
  name: "described",
  parameters: described,
  execute: (args) => same<typeof args, { a?: string }>(),
});
new ToolDefinition({ name: "zod", parameters: z.toJSONSchema(zodSchema) });
new ToolDefinition({ name: "record", parameters: record });
// @ts-expect-error A text is no schema.
defineTool({ name: "x", parameters: "object", execute: () => 1 });
// @ts-expect-error A text is no schema.
defineTool({ name: "x", jsonSchema: "object", execute: () => 1 });

same<InferJsonSchema<{ type: "null" }>, null>();
same<InferJsonSchema<true>, unknown>();
same<InferJsonSchema<{ type: string }>, unknown>();

// The data of an outcome: plain values, outcomes, promises of both, nothing.
const plain = defineTool({ name: "p", execute: () => ({ value: 1 }) });
const made = defineTool({
  name: "m",
  execute: () => Promise.resolve(complete("x")),
});
const nothing = defineTool({ name: "n", execute: async () => {} });
plain.invoke({}) satisfies Promise<
  StepOutcome<{ value: number } | InvalidArguments>
>;
made.invoke({}) satisfies Promise<StepOutcome<string | InvalidArguments>>;
nothing.invoke({}) satisfies Promise<StepOutcome<null | InvalidArguments>>;
// @ts-expect-error Another type of data.
plain.invoke({}) satisfies Promise<StepOutcome<string>>;

// Tools of any types stand in one list, beside handlers and further lists.
export const list: readonly ToolInput[] = [
  withZod,
  withArktype,
  [withLiteral, [without]],
  new MethodToolHandler([{ name: "method" }]),
];
export const anyTool: DefinedTool = withValibot;
// @ts-expect-error A definition has no implementation.
export const noTool: ToolInput = new ToolDefinition({ name: "x" });

// @ts-expect-error A tool has a name.
defineTool({ execute: () => 1 });
// @ts-expect-error A tool has an implementation.
defineTool({ name: "x" });
// @ts-expect-error No such effect.
defineTool({ name: "x", effect: "readonly", execute: () => 1 });
