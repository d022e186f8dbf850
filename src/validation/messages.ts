import type { InvalidArgument } from "../tools/invalid_arguments.ts";
import type { SchemaLeafError } from "./compiler.ts";
import { pointerTo, pointerTokens } from "./pointer.ts";

/**
 * Words errors for the model, without repeating any value.
 *
 * Sorted by place, array items by their number; a missing property stands with its
 * object; then by keyword; then as in the schema.
 */
export function describeErrors(
  errors: readonly SchemaLeafError[],
): InvalidArgument[] {
  return errors
    .map((error) => ({ ...error, tokens: pointerTokens(error.path) }))
    .sort((left, right) =>
      comparePaths(left.tokens, right.tokens) ||
      compareTexts(left.keyword, right.keyword)
    )
    .map(({ path, keyword, missing }) => ({
      path: missing === undefined ? path : pointerTo(path, missing),
      keyword,
      message: messageOf(keyword),
    }));
}

const messages: Readonly<Record<string, string>> = {
  type: "value does not match the required type",
  const: "value differs from the fixed value",
  enum: "value is not one of the allowed values",
  required: "missing required property",
  dependentRequired: "property is needed because another property is present",
  dependencies: "property is needed because another property is present",
  additionalProperties: "object has properties that are not allowed",
  unevaluatedProperties: "object has properties that are not allowed",
  propertyNames: "object has a property name that is not allowed",
  minProperties: "object has too few properties",
  maxProperties: "object has too many properties",
  items: "array has items that are not allowed",
  additionalItems: "array has items that are not allowed",
  unevaluatedItems: "array has items that are not allowed",
  minItems: "array is too short",
  maxItems: "array is too long",
  uniqueItems: "array contains duplicates",
  contains: "array has no matching item",
  minContains: "array has too few matching items",
  maxContains: "array has too many matching items",
  minimum: "number is too small",
  maximum: "number is too large",
  exclusiveMinimum: "number must be above the limit",
  exclusiveMaximum: "number must be below the limit",
  multipleOf: "number is not a permitted multiple",
  minLength: "text is too short",
  maxLength: "text is too long",
  pattern: "text does not match the required pattern",
  format: "text does not have the required format",
  anyOf: "value fits none of the alternatives",
  oneOf: "value must fit exactly one alternative",
  not: "value has a forbidden shape",
  schema: "value is not allowed here",
};

function messageOf(keyword: string): string {
  const message = Object.hasOwn(messages, keyword)
    ? messages[keyword]
    : undefined;
  return message ?? "value does not satisfy the tool schema";
}

function comparePaths(left: readonly string[], right: readonly string[]) {
  const depth = Math.min(left.length, right.length);
  for (let index = 0; index < depth; index++) {
    const order = compareTokens(left[index] ?? "", right[index] ?? "");
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Array indexes by their number and before names, so that every list has one order. */
function compareTokens(left: string, right: string): number {
  const leftIndex = indexOf(left);
  const rightIndex = indexOf(right);
  if (leftIndex !== undefined && rightIndex !== undefined) {
    return leftIndex - rightIndex;
  }
  if (leftIndex !== undefined) return -1;
  if (rightIndex !== undefined) return 1;
  return compareTexts(left, right);
}

function indexOf(token: string): number | undefined {
  return /^(0|[1-9]\d{0,14})$/.test(token) ? Number(token) : undefined;
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
