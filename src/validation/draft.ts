import { isJsonObject, type JsonObject } from "../base/json.ts";
import { JsonSchemaError } from "./schema_error.ts";

/** The versions of JSON Schema that can be checked; `"7"` stands for draft 6 as well. */
export type JsonSchemaDraft = "4" | "7" | "2019-09" | "2020-12";

/** A JSON Schema; `true` accepts every value and `false` none. */
export type JsonSchema = JsonObject | boolean;

/** What a schema says about its version. */
export interface DraftChoice {
  /** The version to check with. */
  readonly draft: JsonSchemaDraft;
  /** False if `$schema` names a version that nobody here knows; 2020-12 is assumed then. */
  readonly known: boolean;
}

const drafts: Readonly<Record<string, JsonSchemaDraft>> = {
  "json-schema.org/draft-04/schema": "4",
  "json-schema.org/draft-06/schema": "7",
  "json-schema.org/draft-07/schema": "7",
  "json-schema.org/draft/2019-09/schema": "2019-09",
  "json-schema.org/draft/2020-12/schema": "2020-12",
};

/**
 * Reads the version of a schema from `$schema` at its root.
 *
 * Without `$schema` it is 2020-12. Whether the address begins with http or https
 * and ends with `#` makes no difference.
 *
 * @throws {JsonSchemaError} If `$schema` is no string or names draft 3.
 */
export function chooseDraft(schema: unknown): DraftChoice {
  const address = isJsonObject(schema) ? schema.$schema : undefined;
  if (address === undefined) return { draft: "2020-12", known: true };
  if (typeof address !== "string") {
    throw new JsonSchemaError("/$schema", "must be a string");
  }
  const name = address.replace(/^https?:\/\//, "").replace(/#$/, "");
  if (name === "json-schema.org/draft-03/schema") {
    throw new JsonSchemaError("/$schema", "draft 3 is not supported");
  }
  const draft = Object.hasOwn(drafts, name) ? drafts[name] : undefined;
  return { draft: draft ?? "2020-12", known: draft !== undefined };
}
