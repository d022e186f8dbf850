import { mayShow, secretsOf } from "../../src/chat/secrets.ts";
import { ModelProviderError } from "../../src/model/errors.ts";
import { assert, assertEquals, assertInstanceOf } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { adapterKinds, ask, secretKey } from "./adapters.ts";

test("secrets are whole texts and the parts that a provider may repeat", () => {
  assertEquals(
    secretsOf(
      "sk-key-000000000000000000000000000000000",
      "key=QS%2FECRET%3D9&api-version=1&empty",
      {
        authorization: "Token TSECRET-1234567",
        cookie: "sid=SSECRET-12345; a=b",
        "x-short": "opensesa",
        "x-flag": "1",
      },
    ),
    [
      "sk-key-000000000000000000000000000000000",
      "key=QS%2FECRET%3D9&api-version=1&empty",
      "sid=SSECRET-12345; a=b",
      "Token TSECRET-1234567",
      "TSECRET-1234567",
      "QS%2FECRET%3D9",
      "SSECRET-12345",
      "QS/ECRET=9",
      "opensesa",
    ],
  );
});

test("a password in basic credentials is a secret, a scheme is none", () => {
  const basic = (credentials: string) =>
    secretsOf("k", "", { authorization: `Basic ${credentials}` });
  const credentials = btoa("bob:hunter2:hunter");
  assertEquals(basic(credentials), [
    `Basic ${credentials}`,
    credentials,
    "hunter2:hunter",
  ]);
  assertEquals(basic("not base64!"), ["Basic not base64!", "not base64!"]);
});

const secret = "sk-secret-1";
const cyclic: Record<string, unknown> = { secret };
cyclic.self = cyclic;

/** Thrown values that show the secret, each in its own way. */
const telling: Record<string, unknown> = {
  text: `Bad key ${secret}`,
  message: new Error(secret),
  "cause of a cause": new Error("", {
    cause: new Error("", { cause: [secret] }),
  }),
  "one of several errors": new AggregateError([
    new Error("first"),
    new Error(secret),
  ]),
  cycle: cyclic,
  key: { [secret]: 1 },
  "hidden member": Object.defineProperty(new Error(), "request", {
    value: { secret },
  }),
  "member under a symbol": { [Symbol("state")]: secret },
  map: new Map([["authorization", new Set([secret])]]),
  headers: Object.assign(new Error(), {
    headers: new Headers({ "x-key": secret }),
  }),
  request: new Request("http://model.test/", { headers: { "x-key": secret } }),
  query: new URL(`http://model.test/?key=${secret}`),
  exception: new DOMException(secret),
  json: { toJSON: () => ({ secret }) },
};

for (const [name, thrown] of Object.entries(telling)) {
  test(`a secret is found wherever a log would show it: ${name}`, () => {
    assert(mayShow(thrown, [secret]));
    assert(!mayShow(thrown, ["sk-other-key"]));
  });
}

/** Thrown values that do not let themselves be looked at. */
const hostile: Record<string, unknown> = {
  getter: Object.defineProperty(new Error(), "message", { get: refuse }),
  proxy: new Proxy({}, { get: refuse, ownKeys: refuse }),
  json: { toJSON: refuse },
  "too many members": Array.from({ length: 3000 }, (_, index) => index),
};

for (const [name, thrown] of Object.entries(hostile)) {
  test(`what cannot be looked at counts as telling: ${name}`, () => {
    assert(mayShow(thrown, [secret]));
  });
}

for (const { kind, make } of adapterKinds) {
  test(`whatever a transport throws becomes an error without secrets, over ${kind}`, async () => {
    const thrown = [
      ...Object.values(telling),
      ...Object.values(hostile),
      Object.create(null),
      Symbol("x"),
      10n,
      null,
      undefined,
    ];
    for (const each of thrown) {
      const adapter = make({
        config: { apiKey: secret },
        fetch: () => Promise.reject(each),
      });
      await adapter.startup();
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelProviderError);
      assert(!mayShow(error, [secret]), error.message);
    }
  });

  test(`a short body that is not JSON is quoted without secrets, over ${kind}`, async () => {
    for (const body of [`data: bad ${secretKey}\n\n`, `{ ${secretKey} }`]) {
      const adapter = make({
        fetch: () => Promise.resolve(new Response(body)),
      });
      await adapter.startup();
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelProviderError);
      assert(error.message.includes("not JSON"), error.message);
      // Engines quote the beginning, so a part of the key is enough to give it away.
      assert(!mayShow(error, [secretKey.slice(0, 8)]));
    }
  });
}

function refuse(): never {
  throw new Error("No");
}
