/**
 * Files below a folder whose name ends as asked, sorted, as paths from the project's root.
 *
 * @param ending For instance `_test.ts`.
 * @param folder Where to start.
 */
export function findFiles(ending: string, folder = "tests"): string[] {
  const found: string[] = [];
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) found.push(...findFiles(ending, path));
    else if (entry.name.endsWith(ending)) found.push(path);
  }
  return found.sort();
}

/**
 * The test files that the filters choose; all of them without a filter.
 *
 * @param filters A folder, a file, or any part of a path. A whole file name is taken as it is.
 */
export function findTestFiles(filters: readonly string[]): string[] {
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ""));
  const found = findFiles("_test.ts").filter((file) =>
    wanted.length === 0 || wanted.some((filter) => file.includes(filter))
  );
  return [
    ...new Set([
      ...found,
      ...wanted.filter((filter) => filter.endsWith(".ts")),
    ]),
  ];
}
