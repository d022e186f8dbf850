const roundCount = 64;
const blockBytes = 64;
const primes = firstPrimes(roundCount);
const roundConstants = primes.map((prime) => fractionOf(Math.cbrt(prime)));
const initialHash = primes.slice(0, 8).map((prime) =>
  fractionOf(Math.sqrt(prime))
);

/**
 * The SHA-256 digest of some bytes.
 *
 * For texts as short as ids: `crypto.subtle` answers from another thread, and
 * the first time takes as long as reading a whole session does.
 *
 * @returns 32 bytes.
 * @see FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1 and 6.2.
 */
export function sha256(message: Uint8Array): Uint8Array {
  const blocks = padded(message);
  const hash = Int32Array.from(initialHash);
  for (let at = 0; at < blocks.byteLength; at += blockBytes) {
    addBlock(hash, new DataView(blocks.buffer, at, blockBytes));
  }
  const digest = new DataView(new ArrayBuffer(hash.byteLength));
  hash.forEach((word, index) => digest.setInt32(4 * index, word));
  return new Uint8Array(digest.buffer);
}

/** The message, a one bit, zeros up to the end of a block, and the length in bits. */
function padded(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const blockCount = Math.ceil((message.length + 9) / blockBytes);
  const blocks = new Uint8Array(blockCount * blockBytes);
  blocks.set(message);
  blocks[message.length] = 0x80;
  const end = new DataView(blocks.buffer);
  end.setBigUint64(blocks.length - 8, BigInt(message.length) * 8n);
  return blocks;
}

function addBlock(hash: Int32Array, block: DataView): void {
  const words = scheduleOf(block);
  let [a, b, c, d, e, f, g, h] = hash as unknown as EightWords;
  for (let round = 0; round < roundCount; round++) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const sumOfE = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const sumOfA = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const first = h + sumOfE + choice + roundConstants[round]! + words[round]!;
    h = g;
    g = f;
    f = e;
    e = d + first | 0;
    d = c;
    c = b;
    b = a;
    a = first + sumOfA + majority | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => hash[index]! += word);
}

type EightWords = [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

function scheduleOf(block: DataView): Int32Array {
  const words = new Int32Array(roundCount);
  for (let at = 0; at < 16; at++) words[at] = block.getInt32(4 * at);
  for (let at = 16; at < roundCount; at++) {
    const near = words[at - 2]!;
    const far = words[at - 15]!;
    const sumOfNear = turned(near, 17) ^ turned(near, 19) ^ near >>> 10;
    const sumOfFar = turned(far, 7) ^ turned(far, 18) ^ far >>> 3;
    words[at] = sumOfNear + words[at - 7]! + sumOfFar + words[at - 16]!;
  }
  return words;
}

/** The bits of a word, turned to the right. */
function turned(word: number, by: number): number {
  return word >>> by | word << 32 - by;
}

/** The first 32 bits behind the binary point. */
function fractionOf(root: number): number {
  return (root - Math.floor(root)) * 2 ** 32 | 0;
}

function firstPrimes(count: number): number[] {
  const found: number[] = [];
  for (let number = 2; found.length < count; number++) {
    if (found.every((prime) => number % prime !== 0)) found.push(number);
  }
  return found;
}
