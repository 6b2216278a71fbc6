import type { UserConsoleLog } from 'vitest'
import { DefaultReporter, type TestModule, type TestSpecification } from 'vitest/node'

/** A run of no more files prints all that vitest prints. */
const FEW = 20

/** Milliseconds. A test that takes no longer is not listed. */
const SLOW = 2000

interface Room {
  files: number
  passed: number
  failed: number
  skipped: number
  ms: number
}

/**
 * Prints of a large run what failed, with what it logged; each test that took more than two seconds; why a test was skipped; and one line
 * for each folder of `test`.
 */
export default class RoomReporter extends DefaultReporter {
  private readonly rooms = new Map<string, Room>()
  private isLarge = false

  constructor() {
    super({ summary: false })
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.isLarge = specifications.length > FEW
    if (this.isLarge) this.silent = 'passed-only'
    super.onTestRunStart(specifications)
  }

  override shouldLog(log: UserConsoleLog, state?: Parameters<DefaultReporter['shouldLog']>[1]): boolean {
    return log.content.includes('SKIPPED:') || super.shouldLog(log, state)
  }

  protected override printTestModule(module: TestModule): void {
    if (!this.isLarge) {
      super.printTestModule(module)
      return
    }
    const name = this.relative(module.moduleId)
    const [, folder = ''] = name.split('/')
    const room = this.rooms.get(folder) ?? { files: 0, passed: 0, failed: 0, skipped: 0, ms: 0 }
    this.rooms.set(folder, room)
    room.files += 1
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state !== 'pending') room[state] += 1
      const { duration = 0 } = test.diagnostic() ?? {}
      room.ms += duration
      if (duration > SLOW) this.log(`  ${(duration / 1000).toFixed(1)} s  ${name} > ${test.fullName}`)
    }
    if (!module.ok()) super.printTestModule(module)
  }

  override onTestRunEnd(...ended: Parameters<DefaultReporter['onTestRunEnd']>): void {
    for (const [folder, { files, passed, failed, skipped, ms }] of [...this.rooms].sort()) {
      const counts = [`${passed} passed`, ...(failed > 0 ? [`${failed} failed`] : []), ...(skipped > 0 ? [`${skipped} skipped`] : [])]
      this.log(`  ${folder.padEnd(24)} ${String(files).padStart(3)} files  ${counts.join(', ')}, ${(ms / 1000).toFixed(1)} s`)
    }
    super.onTestRunEnd(...ended)
  }
}
