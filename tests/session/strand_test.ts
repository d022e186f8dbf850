import fc from "fast-check";
import {
  append,
  emptyStrand,
  findItem,
  itemsOf,
  lastItem,
  type Strand,
} from "../../src/session/strand.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("lists that share their items do not see each other's", () => {
  const base = append(append(emptyStrand<string>(), "a"), "b");
  const left = append(base, "left");
  const right = append(append(base, "right"), "more");
  assertEquals(itemsOf(base), ["a", "b"]);
  assertEquals(itemsOf(left), ["a", "b", "left"]);
  assertEquals(itemsOf(right), ["a", "b", "right", "more"]);
  assertEquals(itemsOf(right, 1), ["b", "right", "more"]);
  assertEquals([lastItem(base), lastItem(emptyStrand())], ["b", undefined]);
});

test("any family of lists behaves like copied arrays", () => {
  const step = fc.record({
    from: fc.nat(50),
    name: fc.integer({ min: 0, max: 8 }).map(String),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 120 }),
      fc.nat(120),
      (steps, from) => {
        const lists: { strand: Strand<Item>; array: Item[] }[] = [
          { strand: emptyStrand((item: Item) => item.name), array: [] },
        ];
        steps.forEach(({ from, name }, id) => {
          const { strand, array } =
            lists[Math.max(0, lists.length - 1 - from)]!;
          const item = { name, id };
          lists.push({ strand: append(strand, item), array: [...array, item] });
        });
        for (const { strand, array } of lists) {
          assertEquals(itemsOf(strand), array);
          assertEquals(itemsOf(strand, from), array.slice(from));
          assertEquals(lastItem(strand), array.at(-1));
          const first = array.find(({ name }) => name === "3");
          assertEquals(findItem(strand, "3"), first);
        }
      },
    ),
    { seed: 3, numRuns: 60 },
  );
});

test("a chain of branches of branches stays shallow", () => {
  let list = emptyStrand<number>();
  for (let number = 0; number < 500; number++) {
    append(list, -1); // another branch takes the place
    list = append(list, number);
  }
  let depth = 0;
  for (
    let part: Strand<number> | null = list;
    part !== null;
    part = part.family.before
  ) depth++;
  assertEquals(depth <= 40, true);
  assertEquals(itemsOf(list).length, 500);
});

interface Item {
  readonly name: string;
  readonly id: number;
}
