/** A network whose clock is stopped, at a prompt in the page: lines go to the server, text comes back. */

import { LineEditor } from "./editor";
import { Screen } from "./screen";
import { wrapped } from "./wrap";

interface Told {
  prompt?: string;
  text?: string;
  picture?: string[];
  words?: string[];
  refused?: string[];
  hint?: string;
  note?: string;
  file?: string;
  content?: string;
  ended?: string;
}

const HISTORY = "wirelab-shell-history";
const MOST_LISTED = 60;

function remembered(): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(HISTORY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((line) => typeof line === "string") : [];
  } catch {
    return [];
  }
}

class ShellPage {
  private readonly history = remembered();
  private readonly status: HTMLElement;
  private readonly buttons: HTMLElement;
  private readonly on: HTMLButtonElement;
  private readonly off: HTMLButtonElement;
  private screen: Screen | null = null;
  private editor: LineEditor | null = null;
  private socket: WebSocket | null = null;
  private isBusy = true;
  private wasUp = false;
  private ahead = "";
  private drawn = 0;

  constructor(private readonly root: HTMLElement) {
    this.status = this.element("[data-status]");
    this.buttons = this.element("[data-keys]");
    this.on = this.element<HTMLButtonElement>("[data-on]");
    this.off = this.element<HTMLButtonElement>("[data-off]");
    this.on.addEventListener("click", () => this.open());
    this.off.addEventListener("click", () => this.socket?.close());
    for (const button of this.buttons.querySelectorAll<HTMLButtonElement>("[data-key]")) {
      button.addEventListener("click", () => {
        this.typed(JSON.parse(`"${button.dataset.key}"`) as string);
        this.screen?.terminal.focus();
      });
    }
    this.on.disabled = false;
  }

  private element<T extends HTMLElement>(selector: string): T {
    const found = this.root.querySelector<T>(selector);
    if (!found) throw new Error(`no ${selector}`);
    return found;
  }

  private word(name: string): string {
    return this.root.dataset[name] ?? "";
  }

  private open(): void {
    const box = this.element("[data-terminal]");
    box.hidden = false;
    this.on.disabled = true;
    this.screen ??= this.made(box);
    const { terminal } = this.screen;
    terminal.reset();
    this.say(this.word("booting"));
    const address = new URL(this.word("socket"), location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    let why = "";
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ open: this.word("csrf"), columns: terminal.cols }));
    });
    socket.addEventListener("message", (event: MessageEvent<string>) => {
      const told = JSON.parse(event.data) as Told;
      if (told.ended !== undefined) why = told.ended;
      else this.told(told);
    });
    socket.addEventListener("close", () => this.closed(why || this.word("lost")));
    this.socket = socket;
    this.isBusy = true;
    this.ahead = "";
    this.off.disabled = false;
    terminal.focus();
  }

  private made(box: HTMLElement): Screen {
    const screen = new Screen(box, this.word("label"), () => this.off.focus());
    screen.terminal.onData((data) => this.typed(data));
    screen.terminal.onResize(({ cols }) => this.send({ columns: cols }));
    this.editor = new LineEditor(
      (text) => screen.write(text),
      () => screen.terminal.cols,
      this.history,
    );
    return screen;
  }

  private closed(why: string): void {
    this.socket = null;
    this.isBusy = true;
    this.buttons.hidden = true;
    this.on.disabled = false;
    this.off.disabled = true;
    if (this.wasUp) this.on.textContent = this.word("again");
    this.say(why);
    this.screen?.write(`\n\x1b[2m${this.fitted(why)}\x1b[0m\n`);
    if (this.root.contains(document.activeElement)) this.on.focus();
  }

  private say(words: string): void {
    this.status.textContent = words;
  }

  private send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private told(told: Told): void {
    if (told.text !== undefined) this.write(told.text);
    if (told.picture) this.draw(told.picture);
    if (told.note !== undefined) this.write(`\x1b[33m${this.fitted(told.note)}\x1b[0m\n`);
    if (told.refused) {
      const errors = told.refused.map((one) => `${this.fitted(`error: ${one}`)}\n`).join("");
      const hint = told.hint ? `${this.fitted(`hint: ${told.hint}`)}\n` : "";
      this.write(`\x1b[31m${errors}\x1b[0m${hint}`);
    }
    if (told.file !== undefined) this.download(told.file, told.content ?? "");
    if (told.words) this.completed(told.words);
    if (told.prompt !== undefined) this.ready(told.prompt);
  }

  private fitted(words: string): string {
    return this.screen ? wrapped(words, this.screen.terminal.cols) : words;
  }

  private write(text: string): void {
    this.drawn = 0;
    this.screen?.write(text);
  }

  /** A picture takes the place of the one before. */
  private draw(lines: string[]): void {
    const again = this.drawn ? `\x1b[${this.drawn}A\r\x1b[J` : "";
    this.screen?.write(`${again}${lines.join("\n")}\n`);
    this.drawn = lines.length;
  }

  private ready(prompt: string): void {
    if (this.buttons.hidden) {
      this.buttons.hidden = false;
      this.wasUp = true;
      this.say(this.word("up"));
    }
    this.isBusy = false;
    this.drawn = 0;
    this.editor?.begin(`${prompt}> `);
    const { ahead } = this;
    this.ahead = "";
    if (ahead) this.typed(ahead);
  }

  private typed(data: string): void {
    if (!this.socket || !this.editor) return;
    if (this.isBusy) {
      // Ctrl-C is for what runs, and for all that was typed ahead.
      if (data.includes("\x03")) {
        this.ahead = "";
        this.send({ stop: true });
      } else this.ahead += data;
      return;
    }
    const [meaning, rest] = this.editor.type(data);
    if (!meaning) return;
    if (meaning === "stop") {
      this.editor.begin(this.editor.prompt);
      if (rest) this.typed(rest);
      return;
    }
    this.isBusy = true;
    this.ahead = rest;
    if (meaning === "line") {
      sessionStorage.setItem(HISTORY, JSON.stringify(this.history));
      this.send({ line: this.editor.text });
    } else if (meaning === "end") this.send({ line: "quit" });
    else this.send({ complete: this.editor.textBefore });
  }

  private completed(words: string[]): void {
    const { editor } = this;
    this.isBusy = false;
    if (!editor) return;
    const begun = editor.textBefore.split(" ").at(-1) ?? "";
    let common = words[0] ?? begun;
    for (const word of words) while (!word.startsWith(common)) common = common.slice(0, -1);
    if (words.length === 1) editor.complete(`${common} `);
    else if (common.length > begun.length) editor.complete(common);
    else if (words.length) {
      const more = words.length > MOST_LISTED ? " ..." : "";
      editor.aside(`${words.slice(0, MOST_LISTED).join("  ")}${more}\n`);
    }
    const { ahead } = this;
    this.ahead = "";
    if (ahead) this.typed(ahead);
  }

  private download(name: string, content: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "application/yaml" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

for (const root of document.querySelectorAll<HTMLElement>("[data-socket]")) new ShellPage(root);
