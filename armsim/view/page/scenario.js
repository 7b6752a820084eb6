export function scenarioPage() {}
