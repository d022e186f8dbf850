import type { KvNamespace } from "../../../adapters/cloudflare/kv_types.ts";

const pageSize = 3;

/** A namespace of Workers KV in memory, which lists little at a time. */
export function memoryKv(
  texts: Map<string, string> = new Map(),
): KvNamespace & { readonly texts: Map<string, string> } {
  return {
    texts,
    get: (key) => Promise.resolve(texts.get(key) ?? null),
    put(key, value) {
      texts.set(key, value);
      return Promise.resolve();
    },
    list({ prefix, cursor }) {
      const names = [...texts.keys()].filter((name) => name.startsWith(prefix))
        .sort();
      const start = Number(cursor ?? 0);
      const end = start + pageSize;
      const keys = names.slice(start, end).map((name) => ({ name }));
      return Promise.resolve(
        end < names.length
          ? { keys, list_complete: false, cursor: String(end) }
          : { keys, list_complete: true },
      );
    },
  };
}
