import { Conversation } from "../../src/context/conversation.ts";
import {
  assert,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { assistant, system, user } from "./messages.ts";

test("messages are detached from the caller, frozen and shared from then on", () => {
  const mine = user("hello");
  const conversation = new Conversation([mine]);

  const held = conversation.at(0);
  assert(held !== mine && Object.isFrozen(held) && !Object.isFrozen(mine));
  assertStrictEquals(new Conversation([held!]).at(0), held);
  conversation.append(held!);
  assertStrictEquals(conversation.at(-1), held);
});

test("a snapshot is frozen, the same until the next change, and never changes", () => {
  const conversation = new Conversation([user("one")]);
  const first = conversation.messages;

  assertStrictEquals(conversation.messages, first);
  assertThrows(() => (first as unknown[]).push(user("two")), TypeError);
  conversation.append(assistant("two"));
  assertEquals(first, [user("one")]);
  assertEquals(conversation.messages, [user("one"), assistant("two")]);
  conversation.replace([user("three")]);
  assertEquals(conversation.messages, [user("three")]);
});

test("a slice belongs to the caller", () => {
  const conversation = new Conversation([user("one"), user("two")]);
  const slice = conversation.slice(1);

  slice.push(user("three"));
  assertEquals(conversation.length, 2);
  assertEquals(slice, [user("two"), user("three")]);
});

test("only a replacement begins a new generation", () => {
  const conversation = new Conversation([user("one")]);

  conversation.append(user("two"));
  assertEquals([conversation.generation, conversation.length], [0, 2]);
  conversation.replace([user("three")]);
  assertEquals([conversation.generation, conversation.length], [1, 1]);
});

test("it knows how many messages the agent made for itself", () => {
  const prompt = system("prompt");
  const conversation = new Conversation([prompt, user("one")], 1);

  assertEquals(conversation.systemCount, 1);
  conversation.replace([prompt, user("two")]);
  assertEquals(conversation.systemCount, 1);
  conversation.replace([user("three")], 0);
  assertEquals(conversation.systemCount, 0);
});

test("it refuses to count more messages of the agent than there are", () => {
  assertThrows(() => new Conversation([], 1), RangeError, "systemCount");
  assertThrows(() => new Conversation([], -1), RangeError, "systemCount");
  assertThrows(() => new Conversation([], 0.5), TypeError, "systemCount");

  const conversation = new Conversation([system("prompt")], 1);
  assertThrows(() => conversation.replace([]), RangeError);
  assertEquals([conversation.length, conversation.generation], [1, 0]);
});
