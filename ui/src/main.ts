import "./tokens.css";
import "./page.css";

import { App } from "./app";

const app = new App(document.body, new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
app.start();
