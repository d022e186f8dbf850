/** Where an adapter sends its requests. */
export interface ChatEndpoint {
  /** Complete address. */
  readonly url: string;
  /** Base address without query, fit for messages. */
  readonly baseUrl: string;
  /** Tells known services apart. */
  readonly hostname: string;
  /** Query of the base address without its question mark; some services put keys there. */
  readonly query: string;
}

const path = "/chat/completions";

/**
 * Finds the endpoint below a base address.
 *
 * @param base With or without a slash at its end, or the endpoint itself; a query is kept.
 * @throws {RangeError} No absolute http or https URL, or one with a user or password.
 */
export function chatEndpoint(base: string): ChatEndpoint {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new RangeError(
      "baseUrl (MODEL_URL) must be an absolute http or https URL such as https://api.openai.com/v1",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new RangeError(
      "baseUrl must not hold a user or password; use apiKey or headers",
    );
  }
  const root = url.pathname.replace(/\/+$/, "");
  url.pathname = root.endsWith(path) ? root : root + path;
  url.hash = "";
  return {
    url: url.href,
    baseUrl: url.origin + url.pathname.slice(0, -path.length),
    hostname: url.hostname,
    query: url.search.slice(1),
  };
}
