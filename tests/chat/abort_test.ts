import { abortContract } from "../adapters/abort_contract.ts";

abortContract((provider) =>
  Promise.resolve({
    url: "http://model.test",
    fetch: provider.fetch,
    close: () => Promise.resolve(),
  }), {});
