/** An editor of one line at a prompt: history, the keys that terminals have, lines longer than the screen. */

/** What a key means that is not for the line itself. */
export type Meaning = "line" | "complete" | "stop" | "end" | null;

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a terminal are sequences of them
const KEYS = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1bO.|\x1b[P\]X^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b|[\s\S]/gu;
const MOST_LETTERS = 2000;
const MOST_KEPT = 200;

export class LineEditor {
  prompt = "";
  private letters: string[] = [];
  private at = 0;
  private row = 0;
  private place: number;
  private draft = "";

  constructor(
    private readonly write: (text: string) => void,
    private readonly columns: () => number,
    private readonly history: string[],
  ) {
    this.place = history.length;
  }

  get text(): string {
    return this.letters.join("");
  }

  get textBefore(): string {
    return this.letters.slice(0, this.at).join("");
  }

  /** Begin a line. */
  begin(prompt: string): void {
    this.prompt = prompt;
    this.letters = [];
    this.at = this.row = 0;
    this.place = this.history.length;
    this.draw();
  }

  /** Take what is typed, key by key; what is left over when one of them is not for the line comes back. */
  type(data: string): [Meaning, string] {
    KEYS.lastIndex = 0;
    for (let key = KEYS.exec(data); key; key = KEYS.exec(data)) {
      const meaning = this.key(key[0]);
      if (meaning) return [meaning, data.slice(KEYS.lastIndex)];
    }
    this.draw();
    return [null, ""];
  }

  /** Put something in the place of the word that is begun. */
  complete(word: string): void {
    const begun = this.textBefore.split(" ").at(-1) ?? "";
    const before = [...this.textBefore.slice(0, this.textBefore.length - begun.length), ...word];
    this.letters = [...before, ...this.letters.slice(this.at)].slice(0, MOST_LETTERS);
    this.at = Math.min(before.length, this.letters.length);
    this.draw();
  }

  /** Write something below the line, and the line again below that. */
  aside(text: string): void {
    this.finish();
    this.write(text);
    this.draw();
  }

  /** Show the line as it is, from its first row on. */
  draw(): void {
    const columns = this.columns();
    const length = this.prompt.length + this.letters.length;
    const up = this.row ? `\x1b[${this.row}A` : "";
    // A terminal that has written its last column has not gone to the next row yet.
    const over = length % columns ? "" : "\r\n";
    const cursor = this.prompt.length + this.at;
    this.row = Math.floor(cursor / columns);
    const back = Math.floor(length / columns) - this.row;
    const column = cursor % columns;
    this.write(
      `${up}\r\x1b[J${this.prompt}${this.text}${over}${back ? `\x1b[${back}A` : ""}\r${column ? `\x1b[${column}C` : ""}`,
    );
  }

  /** To the row behind the line. */
  private finish(): void {
    this.at = this.letters.length;
    this.draw();
    this.write("\r\n");
    this.row = 0;
  }

  private key(key: string): Meaning {
    switch (key) {
      case "\r":
      case "\n":
        this.finish();
        this.keep();
        return "line";
      case "\t":
        return "complete";
      case "\x03":
        this.finish();
        return "stop";
      case "\x04":
        if (!this.letters.length) return "end";
        this.cut(this.at, this.at + 1);
        break;
      case "\x7f":
      case "\b":
        this.cut(this.at - 1, this.at);
        break;
      case "\x1b[3~":
        this.cut(this.at, this.at + 1);
        break;
      case "\x1b[D":
      case "\x1bOD":
      case "\x02":
        this.at = Math.max(0, this.at - 1);
        break;
      case "\x1b[C":
      case "\x1bOC":
      case "\x06":
        this.at = Math.min(this.letters.length, this.at + 1);
        break;
      case "\x1b[H":
      case "\x1bOH":
      case "\x1b[1~":
      case "\x01":
        this.at = 0;
        break;
      case "\x1b[F":
      case "\x1bOF":
      case "\x1b[4~":
      case "\x05":
        this.at = this.letters.length;
        break;
      case "\x1b[A":
      case "\x1bOA":
      case "\x10":
        this.recall(-1);
        break;
      case "\x1b[B":
      case "\x1bOB":
      case "\x0e":
        this.recall(1);
        break;
      case "\x0b":
        this.cut(this.at, this.letters.length);
        break;
      case "\x15":
        this.cut(0, this.at);
        break;
      case "\x17":
        this.cut(this.textBefore.trimEnd().lastIndexOf(" ") + 1, this.at);
        break;
      case "\x0c":
        this.row = 0;
        this.write("\x1b[H\x1b[2J");
        break;
      default:
        this.insert(key);
    }
    return null;
  }

  private insert(letter: string): void {
    // What is left are sequences that terminals send by themselves, and keys that mean nothing here.
    if (letter < " " || letter.length > 2 || this.letters.length >= MOST_LETTERS) return;
    this.letters.splice(this.at, 0, letter);
    this.at++;
  }

  private cut(from: number, until: number): void {
    const first = Math.max(0, from);
    this.letters.splice(first, until - first);
    this.at = Math.min(first, this.letters.length);
  }

  private keep(): void {
    const line = this.text.trim();
    if (line && line !== this.history.at(-1)) this.history.push(line);
    if (this.history.length > MOST_KEPT) this.history.shift();
  }

  private recall(by: number): void {
    const place = this.place + by;
    if (place < 0 || place > this.history.length) return;
    if (this.place === this.history.length) this.draft = this.text;
    this.place = place;
    this.letters = [...(this.history[place] ?? this.draft)];
    this.at = this.letters.length;
  }
}
