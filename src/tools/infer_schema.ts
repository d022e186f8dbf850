/**
 * The type of the values that a JSON Schema literal describes.
 *
 * Understands `type`, `properties`, `required`, `items`, `enum`, `const` and
 * `anyOf`; whatever else a schema says leaves the type as wide as it is, in
 * doubt `unknown`.
 */
export type InferJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] } ? Value
  : S extends { readonly anyOf: readonly (infer Alternative)[] }
    ? number extends S["anyOf"]["length"] ? unknown
    : InferJsonSchema<Alternative>
  : S extends { readonly type: readonly (infer Type)[] }
    ? Type extends string
      ? InferJsonSchema<Omit<S, "type"> & { readonly type: Type }>
    : unknown
  : S extends { readonly type: "string" } ? string
  : S extends { readonly type: "number" | "integer" } ? number
  : S extends { readonly type: "boolean" } ? boolean
  : S extends { readonly type: "null" } ? null
  : S extends { readonly type: "array"; readonly items: infer Items }
    ? InferJsonSchema<Items>[]
  : S extends { readonly type: "array" } ? unknown[]
  : S extends { readonly type: "object"; readonly properties: infer Members }
    ? string extends keyof Members ? Record<string, unknown>
    : (
      & {
        -readonly [
          Key in keyof Members as S extends
            { readonly required: readonly (infer Name)[] }
            ? Key extends Name ? Key : never
            : never
        ]: InferJsonSchema<Members[Key]>;
      }
      & {
        -readonly [
          Key in keyof Members as S extends
            { readonly required: readonly (infer Name)[] }
            ? Key extends Name ? never : Key
            : Key
        ]?: InferJsonSchema<Members[Key]>;
      }
    ) extends infer Both ? { [Key in keyof Both]: Both[Key] }
    : never
  : S extends { readonly type: "object" } ? Record<string, unknown>
  : unknown;
