/** A test file that cannot be loaded; run by `runners_test.ts` alone. */

throw new Error("Broken on purpose");
