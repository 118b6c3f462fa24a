/** Lines of words for a terminal: it breaks them wherever it is full, in the middle of words too. */

/** The same in lines of at most so many columns, broken at blanks; a word that is longer stays whole. */
export function wrapped(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => wrappedLine(line, columns))
    .join("\n");
}

function wrappedLine(line: string, columns: number): string {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    // A blank right behind the last column is as good as one in it.
    const within = rest.lastIndexOf(" ", columns);
    const at = within > 0 ? within : rest.indexOf(" ", columns);
    if (at < 0) break;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at + 1);
  }
  return [...lines, rest].join("\n");
}
