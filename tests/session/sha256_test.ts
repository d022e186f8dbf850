import { sha256 } from "../../src/session/sha256.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("digests are those of the platform, at every length up to three blocks", async () => {
  for (let length = 0; length <= 192; length++) {
    const bytes = Uint8Array.from({ length }, (_, at) => 37 * at + length);
    const wanted = await crypto.subtle.digest("SHA-256", bytes);
    assertEquals(sha256(bytes), new Uint8Array(wanted), `${length} bytes`);
  }
});

test("a part of a buffer is digested alone, and left as it is", () => {
  const buffer = new TextEncoder().encode("(abc)");
  const hex = Array.from(
    sha256(buffer.subarray(1, 4)),
    (byte) => byte.toString(16).padStart(2, "0"),
  );
  // FIPS 180-4, the example of one block.
  assertEquals(
    hex.join(""),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  assertEquals(new TextDecoder().decode(buffer), "(abc)");
});
