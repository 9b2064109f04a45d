import { fileURLToPath } from "node:url";

import js from "@eslint/js";
import { defineConfig, includeIgnoreFile } from "eslint/config";
import typescript from "typescript-eslint";

export default defineConfig(
  includeIgnoreFile(fileURLToPath(new URL(".gitignore", import.meta.url))), // an environment in .venv is not ours
  { ignores: ["**/*.bundle.js"] },
  js.configs.recommended,
  typescript.configs.recommended,
  {
    rules: {
      "eqeqeq": "error",
      "no-control-regex": "off", // tokens hold control characters
      "no-misleading-character-class": "off", // and signs that join others
      "no-undef": "off", // tsc knows better
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
    },
  },
);
