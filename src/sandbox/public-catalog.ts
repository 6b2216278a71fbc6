/** The organization of the public catalog, under its documented uid (semantics §1). Every caller may sync from it. */
export const PUBLIC_CATALOG_UID = '720909c9f5279097d847ad02a2f24ba8f59de36a'
