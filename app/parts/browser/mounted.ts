// What Streamlit mounts: a component in its styles, which reads what component.py sends.

import { keeping, Opened, type Mounted } from "./component";
import { inflate, type Bytes } from "./data_blocks";

type Component = (mounted: Mounted<unknown>) => (() => void) | void;

const JSON_FOLLOWS = 1, BYTES_FOLLOW = 2; // first bytes of data that is deflated; no other bytes begin with them

export default function mounted(component: Component, css: string): (given: Mounted<unknown>) => () => void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return keeping<unknown, Opened>(Opened, (opened, given, isLast) => {
    const { data, parentElement } = given;
    const { adoptedStyleSheets } = parentElement.getRootNode() as Document | ShadowRoot;
    if (css && !adoptedStyleSheets.includes(sheet)) adoptedStyleSheets.push(sheet);
    const show = (sent: unknown) => {
      if (isLast()) opened.close = component({ ...given, data: sent }) ?? (() => {});
    };
    if (data instanceof Uint8Array && (data[0] === JSON_FOLLOWS || data[0] === BYTES_FOLLOW)) void restored(data as Bytes).then(show);
    else show(data);
  });
}

async function restored(data: Bytes): Promise<unknown> {
  const bytes = await inflate(data.subarray(1));
  return data[0] === BYTES_FOLLOW ? bytes : JSON.parse(new TextDecoder().decode(bytes));
}
