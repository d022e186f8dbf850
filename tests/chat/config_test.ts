import { AgentConfigurationError } from "../../src/base/errors.ts";
import { ChatModelAdapter } from "../../src/chat/adapter.ts";
import {
  createModelConfig,
  modelConfigFromEnv,
  type ModelEnvironment,
} from "../../src/chat/config.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const required = { CHAT_MODEL: "m", MODEL_API_KEY: "k", MODEL_URL: "u" };

test("variables give a configuration, with defaults for what is missing", {
  case: "X-168",
}, () => {
  assertEquals(
    modelConfigFromEnv({
      ...required,
      LLM_TIMEOUT: "12",
      LLM_TEMPERATURE: "0.2",
    }),
    {
      model: "m",
      apiKey: "k",
      baseUrl: "u",
      timeoutMs: 12_000,
      temperature: 0.2,
      includeUsage: true,
    },
  );
  const plain = modelConfigFromEnv(required);
  assertEquals([plain.timeoutMs, plain.temperature, plain.includeUsage], [
    60_000,
    null,
    true,
  ]);
  assertEquals(
    modelConfigFromEnv({ ...required, LLM_INCLUDE_USAGE: "FALSE" })
      .includeUsage,
    false,
  );
});

test("a missing variable gives one error that names all three", {
  case: "X-168",
}, () => {
  for (const name of ["CHAT_MODEL", "MODEL_API_KEY", "MODEL_URL"]) {
    for (const value of ["", "  ", undefined]) {
      const error = assertThrows(
        () => modelConfigFromEnv({ ...required, [name]: value }),
        AgentConfigurationError,
      );
      for (const each of Object.keys(required)) {
        assert(error.message.includes(each));
      }
      assert(error.message.endsWith(`missing: ${name}`), error.message);
    }
  }
});

test("numbers and switches in variables are read strictly", () => {
  const bad: readonly (readonly [keyof ModelEnvironment, readonly string[]])[] =
    [
      ["LLM_TIMEOUT", [
        "",
        " ",
        "12abc",
        "0x10",
        "1.5",
        "1e3",
        "NaN",
        "Infinity",
        "0",
        "-3",
      ]],
      ["LLM_TEMPERATURE", [
        "",
        "warm",
        "0x10",
        "NaN",
        "nan",
        "Infinity",
        "1,5",
        "-0.1",
        ".",
      ]],
      ["LLM_INCLUDE_USAGE", ["", "yes", "1", "truee"]],
    ];
  for (const [name, values] of bad) {
    for (const value of values) {
      const env = { ...required, [name]: value };
      const error = assertThrows(
        () => modelConfigFromEnv(env),
        AgentConfigurationError,
      );
      assert(error.message.includes(name), error.message);
    }
  }
  const good = { ...required, LLM_TIMEOUT: " 7 ", LLM_TEMPERATURE: " .5 " };
  assertEquals(modelConfigFromEnv(good).timeoutMs, 7000);
  assertEquals(modelConfigFromEnv(good).temperature, 0.5);
});

test("a binding that is no text is named", () => {
  const names = [
    "CHAT_MODEL",
    "MODEL_API_KEY",
    "MODEL_URL",
    "LLM_TIMEOUT",
    "LLM_TEMPERATURE",
    "LLM_INCLUDE_USAGE",
  ];
  for (const name of names) {
    for (const value of [60, true, null, {}]) {
      assertThrows(
        () => modelConfigFromEnv({ ...required, [name]: value } as never),
        AgentConfigurationError,
        `${name} must be a text`,
      );
    }
  }
});

test("an error of the environment speaks of the variable", () => {
  const cases = [
    [{ MODEL_API_KEY: "a b" }, "MODEL_API_KEY must hold visible ASCII"],
    [
      { LLM_TIMEOUT: "9999999" },
      "LLM_TIMEOUT must be greater than 0 and at most 2147483647 ms",
    ],
    [{ LLM_TEMPERATURE: "-1" }, "LLM_TEMPERATURE must be a finite number"],
    [{ LLM_TEMPERATURE: "warm" }, "a number; LLM_TEMPERATURE is none"],
    [{ LLM_TIMEOUT: "1.5" }, "a number; LLM_TIMEOUT is none"],
  ] as const;
  for (const [wrong, message] of cases) {
    assertThrows(
      () => modelConfigFromEnv({ ...required, ...wrong }),
      AgentConfigurationError,
      message,
    );
  }
});

test("headers that no platform sends are refused without their values", () => {
  const make = (headers: unknown) => () =>
    new ChatModelAdapter(
      { model: "m", apiKey: "k", baseUrl: "http://model.test" },
      { headers: headers as Record<string, string> },
    );
  for (const value of ["hunter2\nx: y", "hunter2\r", "hunter2\u20ac", "\0"]) {
    const { message } = assertThrows(make({ "x-tenant": value }), RangeError);
    assertEquals(
      message,
      'headers["x-tenant"] must be one line of Latin-1 characters',
    );
  }
  assertThrows(make({ "x tenant": "a" }), RangeError, "name of a header");
  assertThrows(make({ "x-tenant": 7 }), TypeError, 'headers["x-tenant"]');
  assertThrows(make("x-tenant: a"), TypeError, "headers must be an object");
  make({ "X-Tenant": "caf\u00e9 1", "x-empty": "" })();
});

test("no error of the environment repeats a value", () => {
  const env = {
    ...required,
    MODEL_API_KEY: "sk-\u00e4-secret",
    LLM_TIMEOUT: "sk-secret",
  };
  for (const each of [env, { ...env, LLM_TIMEOUT: "3" }]) {
    const error = assertThrows(
      () => modelConfigFromEnv(each),
      AgentConfigurationError,
    );
    assert(!error.message.includes("secret"), error.message);
  }
});

test("members of a configuration are checked", () => {
  const good = { model: "m", apiKey: "k", baseUrl: "u" };
  const wrongTypes = [
    { ...good, model: 7 },
    { ...good, apiKey: undefined },
    { ...good, baseUrl: null },
    { ...good, timeoutMs: "60000" },
    { ...good, temperature: "hot" },
    { ...good, includeUsage: 1 },
  ];
  for (const input of [...wrongTypes, undefined, null, "m"]) {
    assertThrows(() => createModelConfig(input as never), TypeError, "must be");
  }
  const wrongValues = [
    { ...good, model: " " },
    { ...good, apiKey: "a\nb" },
    { ...good, timeoutMs: 0 },
    { ...good, timeoutMs: Infinity },
    { ...good, timeoutMs: 2 ** 31 },
    { ...good, temperature: -1 },
    { ...good, temperature: NaN },
  ];
  for (const input of wrongValues) {
    assertThrows(() => createModelConfig(input), RangeError);
  }
  assertEquals(createModelConfig({ ...good, apiKey: " k\n" }).apiKey, "k");
});

test("an adapter wants an http address without credentials", () => {
  for (const baseUrl of ["u", "ftp://model.test", "localhost:11434/v1"]) {
    const config = { model: "m", apiKey: "k", baseUrl };
    assertThrows(() => new ChatModelAdapter(config), RangeError, "http");
  }
  const config = {
    model: "m",
    apiKey: "k",
    baseUrl: "https://me:hunter2@model.test/v1",
  };
  const error = assertThrows(() => new ChatModelAdapter(config), RangeError);
  assert(!error.message.includes("hunter2"));
});

test("an adapter says where its requests go, by the name that tracing knows", () => {
  const targetOf = (baseUrl: string) =>
    new ChatModelAdapter({ model: "m", apiKey: "k", baseUrl }).target;
  assertEquals(targetOf("https://api.deepseek.com?key=1"), {
    provider: "deepseek",
    model: "m",
    baseUrl: "https://api.deepseek.com",
  });
  assertEquals(targetOf("http://127.0.0.1:11434/v1/"), {
    provider: "openai",
    model: "m",
    baseUrl: "http://127.0.0.1:11434/v1",
  });
});

test("habits of a server are checked", () => {
  const config = { model: "m", apiKey: "k", baseUrl: "http://model.test" };
  const make = (compat: object) => () =>
    new ChatModelAdapter(config, { compat });
  assertThrows(make({ reasoningReplay: "yes" }), TypeError);
  assertThrows(make({ emptyAssistantContent: "drop" }), TypeError);
  assertThrows(make({ toolCallIds: "short" }), TypeError);
  assertThrows(make({ contextWindow: 0 }), RangeError);
});
