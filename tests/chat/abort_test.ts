import { abortContract } from "../adapters/abort_contract.ts";

abortContract((provider) =>
  Promise.resolve({
    url: "http://model.test",
    fetch: provider.fetch,
    close: () => Promise.resolve(),
  }), {
  what: "an interrupted exchange leaves nothing open",
  case: ["B51", "B55"],
});
