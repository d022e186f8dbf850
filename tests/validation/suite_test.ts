import { compileJsonSchema } from "../../src/validation/compile.ts";
import { JsonSchemaError } from "../../src/validation/schema_error.ts";
import draft4 from "../fixtures/json_schema_suite/draft4.json" with {
  type: "json",
};
import draft6 from "../fixtures/json_schema_suite/draft6.json" with {
  type: "json",
};
import draft7 from "../fixtures/json_schema_suite/draft7.json" with {
  type: "json",
};
import { assertEquals } from "../support/assert.ts";
import { fixture } from "../support/fixtures.ts";
import { test } from "../support/suite.ts";
import { type Group, newerDrafts } from "./newer_drafts.ts";

type Suite = Readonly<Record<string, readonly Group[]>>;

/** Groups that refer to schemas outside of their document: the schema is refused, nothing is fetched. */
const remote: Readonly<Record<string, readonly string[] | "all">> = {
  refRemote: "all",
  definitions: "all",
  ref: ["remote ref, containing refs itself"],
};

/** Values that are accepted although the suite calls them invalid, and why. */
const accepted: Readonly<Record<string, number>> = {
  // JavaScript does not tell 1.0 from 1.
  "4 optional/zeroTerminatedFloats": 1,
  // Contents are annotations.
  "7 optional/content": 4,
  // These formats are not known and so not asserted.
  "7 optional/format/idn-email": 1,
  "7 optional/format/idn-hostname": 3,
  "7 optional/format/iri": 4,
  "7 optional/format/iri-reference": 2,
};

const suites: readonly (readonly [string, string, Suite])[] = [
  ["4", "http://json-schema.org/draft-04/schema#", fixture(draft4)],
  ["6", "http://json-schema.org/draft-06/schema#", fixture(draft6)],
  ["7", "http://json-schema.org/draft-07/schema#", fixture(draft7)],
];

for (const [draft, $schema, suite] of suites) {
  for (const [file, groups] of Object.entries(suite)) {
    test(`the official tests of draft ${draft}, ${file}`, () => {
      const wrong = groups.flatMap((group) => deviations(group, $schema, file));
      const tolerated = accepted[`${draft} ${file}`] ?? 0;
      assertEquals(wrong.slice(tolerated), []);
      assertEquals(wrong.length, tolerated);
    });
  }
}

/** What later drafts kept of draft 7: all but references that make their siblings void. */
const kept = Object.entries(fixture<Suite>(draft7))
  .filter(([file]) => !file.startsWith("optional/"))
  .map(([file, groups]) =>
    [
      file,
      groups.filter(({ description }) =>
        description !== "ref overrides any sibling keywords"
      ),
    ] as const
  );

for (const draft of ["2019-09", "2020-12"] as const) {
  const $schema = `https://json-schema.org/draft/${draft}/schema`;
  for (const [file, groups] of kept) {
    test(`what ${draft} kept of draft 7, ${file}`, () => {
      const wrong = groups.flatMap((group) =>
        deviations(
          draft === "2019-09" ? group : withPrefixItems(group),
          $schema,
          file,
        )
      );
      assertEquals(wrong, []);
    });
  }
}

for (const { draft, groups } of newerDrafts) {
  const $schema = `https://json-schema.org/draft/${draft}/schema`;
  for (const group of groups) {
    test(`${draft}: ${group.description}`, () => {
      assertEquals(deviations(group, $schema, ""), []);
    });
  }
}

/** The tests of a group whose verdict is another than expected. */
function deviations(group: Group, $schema: string, file: string): string[] {
  const expectRefusal = isRemote(group, file);
  const schema = typeof group.schema === "object"
    ? { $schema, ...group.schema }
    : group.schema;
  const judge = compile(schema);
  return group.tests
    .filter(({ data, valid }) =>
      judge(data) !== (expectRefusal ? "refused" : valid)
    )
    .map(({ description }) => `${group.description}: ${description}`);
}

function isRemote(group: Group, file: string): boolean {
  const groups = Object.hasOwn(remote, file) ? remote[file] : undefined;
  return groups === "all" || groups?.includes(group.description) === true;
}

function compile(schema: unknown): (value: unknown) => boolean | "refused" {
  try {
    const validate = compileJsonSchema(schema, { formats: "assert" });
    return (value) => validate(value).length === 0;
  } catch (error) {
    if (error instanceof JsonSchemaError) return () => "refused";
    throw error;
  }
}

/** Draft 2020-12 writes the list form of `items` in another way. */
function withPrefixItems(group: Group): Group {
  return { ...group, schema: translate(group.schema) };
}

function translate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(translate);
  if (typeof value === "string") {
    return value.replace("#/items/", "#/prefixItems/");
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value)
    .map(([key, member]) => [key, translate(member)]);
  const { items, additionalItems, ...rest } = Object.fromEntries(members);
  if (!Array.isArray(items)) return Object.fromEntries(members);
  return {
    ...rest,
    prefixItems: items,
    ...(additionalItems !== undefined && { items: additionalItems }),
  };
}
