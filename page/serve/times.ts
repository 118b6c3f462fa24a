/** An instant in the viewer's own time: the server says it in UTC, which stays where this is not. */

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

export function local(one: HTMLTimeElement): void {
  const at = new Date(one.dateTime);
  if (Number.isNaN(at.getTime())) return;
  one.title = one.textContent ?? "";
  one.textContent = FORMAT.format(at);
}
