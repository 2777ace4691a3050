/** Where a request goes. */
export interface Route {
  readonly routeKey: string;
  readonly pathParameters?: Record<string, string>;
}

/** Finds the route of a request; `undefined` when there are routes and none fits. The first that fits is taken. */
export function matchRoute(
  routes: readonly string[] | undefined,
  method: string,
  path: string,
): Route | undefined {
  if (routes === undefined) return { routeKey: '$default' };
  for (const routeKey of routes) {
    if (routeKey === '$default') return { routeKey };
    const [routeMethod, pattern = ''] = routeKey.split(' ');
    if (routeMethod !== 'ANY' && routeMethod !== method) continue;
    const match = expressionOf(pattern).exec(path);
    if (match === null) continue;
    const entries = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decode(value)] as const);
    return { routeKey, ...(entries.length > 0 && { pathParameters: Object.fromEntries(entries) }) };
  }
  return undefined;
}

/** Of patterns such as `/orders/{id}` and `/files/{path+}`. */
function expressionOf(pattern: string): RegExp {
  const source = pattern
    .split(/(\{\w+\+?\})/)
    .map((part) => {
      const [, name, greedy] = /^\{(\w+)(\+?)\}$/.exec(part) ?? [];
      if (name === undefined) return part.replaceAll(/[^\w/-]/g, '\\$&');
      return greedy === '+' ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`;
    })
    .join('');
  return new RegExp(`^${source}$`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
