import { defineConfig } from "vite";

// One page, one worker. Nothing is inlined: the server's Content-Security-Policy allows neither inline scripts nor
// data: URLs for scripts, and a worker must come from the same origin.
export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    chunkSizeWarningLimit: 700,
  },
  worker: { format: "es" },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
} as never);
