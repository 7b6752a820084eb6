export function robotPage() {}
