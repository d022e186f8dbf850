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
    ? InferJsonSchema<Alternative>
  : S extends { readonly type: infer Type } ? InferTypes<Type, S>
  : unknown;

type InferTypes<Type, S> = Type extends readonly (infer Member)[]
  ? InferType<Member, S>
  : InferType<Type, S>;

type InferType<Type, S> = Type extends "string" ? string
  : Type extends "number" | "integer" ? number
  : Type extends "boolean" ? boolean
  : Type extends "null" ? null
  : Type extends "array" ? InferArray<S>
  : Type extends "object" ? InferObject<S>
  : unknown;

type InferArray<S> = S extends { readonly items: infer Items }
  ? InferJsonSchema<Items>[]
  : unknown[];

type InferObject<S> = S extends { readonly properties: infer Properties }
  ? Flat<
    & {
      -readonly [
        Key in keyof Properties as Key extends RequiredKeys<S> ? Key : never
      ]: InferJsonSchema<Properties[Key]>;
    }
    & {
      -readonly [
        Key in keyof Properties as Key extends RequiredKeys<S> ? never : Key
      ]?: InferJsonSchema<Properties[Key]>;
    }
  >
  : Record<string, unknown>;

type RequiredKeys<S> = S extends { readonly required: readonly (infer Key)[] }
  ? Key
  : never;

type Flat<T> = { [Key in keyof T]: T[Key] };
