// Search where pages are files. From there browsers start no worker, so its script runs in a frame that shows nothing.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.importScripts = () => {};
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = new URL(url, location).href;
      const loaded = new Promise((resolve) => (script.onload = resolve));
      this.postMessage = (data) => loaded.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
      inside.document.head.append(script);
    }
  };
}
