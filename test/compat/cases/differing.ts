import type { Case } from '../case.ts'

export const differing: readonly Case[] = []
