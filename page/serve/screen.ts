/** The terminal on the page: xterm.js, in the page's colours, and without a style that its policy forbids. */

import { FitAddon } from "@xterm/addon-fit";
import { type ITheme, Terminal } from "@xterm/xterm";

/** xterm.js writes styles of its own into the page. The policy allows none; a sheet that a script makes it does. */
function withSheets<T>(make: () => T): T {
  const original = document.createElement;
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const element = original.call(document, name === "style" ? "span" : name, options);
    if (name === "style") {
      const sheet = new CSSStyleSheet();
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      element.hidden = true;
      const text = { get: () => "", set: (css: string) => sheet.replaceSync(css) };
      Object.defineProperties(element, { textContent: text, innerText: text });
    }
    return element;
  }) as typeof document.createElement;
  try {
    return make();
  } finally {
    document.createElement = original;
  }
}

function theme(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const [red, green, yellow, blue] = ["fail", "pass", "skip", "c0"].map(colour);
  const [magenta, cyan, ink, dim] = ["c3", "c2", "ink", "dim"].map(colour);
  return {
    ...{ background: colour("soft"), foreground: ink, cursor: colour("accent"), cursorAccent: colour("soft") },
    ...{ selectionBackground: colour("edge"), black: ink, white: ink, brightBlack: dim, brightWhite: ink },
    ...{ red, green, yellow, blue, magenta, cyan },
    ...{ brightRed: red, brightGreen: green, brightYellow: yellow, brightBlue: blue },
    ...{ brightMagenta: magenta, brightCyan: cyan },
  };
}

export class Screen {
  readonly terminal: Terminal;
  private readonly fit = new FitAddon();

  constructor(box: HTMLElement, label: string, leave: () => void) {
    const style = getComputedStyle(box);
    this.terminal = withSheets(() => {
      const made = new Terminal({
        convertEol: true,
        cursorBlink: false,
        fontFamily: style.fontFamily,
        fontSize: Number.parseFloat(style.fontSize),
        screenReaderMode: true,
        scrollback: 5000,
        theme: theme(),
      });
      made.loadAddon(this.fit);
      made.open(box);
      return made;
    });
    this.terminal.textarea?.setAttribute("aria-label", label);
    this.terminal.attachCustomKeyEventHandler((event) => {
      // Tab completes: so another key has to lead out.
      if (event.key !== "Escape") return true;
      if (event.type === "keydown") leave();
      return false;
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.terminal.options.theme = theme();
    });
    new ResizeObserver(() => this.fit.fit()).observe(box);
    this.fit.fit();
  }

  write(text: string): void {
    this.terminal.write(text);
  }
}
