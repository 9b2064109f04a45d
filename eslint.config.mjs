import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import typescript from "typescript-eslint";

export default defineConfig(
  { ignores: ["**/*.bundle.js", "node_modules"] },
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
