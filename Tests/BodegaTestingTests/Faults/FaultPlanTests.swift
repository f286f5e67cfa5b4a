import Bodega
import Foundation
import TestSupport
import Testing

@Suite struct FaultPlanTests {

    @Test func `A seed gives the same faults at the same moments, and each fault ends`() async throws {
        func run(seed: UInt64) async throws -> [String] {
            let (steps, log) = (Locked(0), Locked<[String]>([]))
            let faults = (0..<4).map { number in
                Fault("\(number)") {
                    log.withLock { $0.append("\(number) begins at \(steps.withLock { $0 })") }
                } end: {
                    log.withLock { $0.append("\(number) ends at \(steps.withLock { $0 })") }
                }
            }
            try await FaultPlan(faults, seed: seed, rounds: 8, length: 1...20).run(patience: .seconds(60)) {
                steps.withLock { count in
                    count += 1; return count
                }
            }
            return log.withLock { $0 }
        }
        let log = try await run(seed: 7)
        #expect(try await run(seed: 7) == log)
        #expect(try await run(seed: 8) != log)
        #expect(log.count == 16)
        for number in 0..<4 { #expect(log.filter { $0.hasPrefix("\(number) ") }.count == 4) }
    }

    @Test func `A fault ends even if the disturbed work fails`() async throws {
        let hasEnded = Locked(false)
        let fault = Fault("a") {
        } end: {
            hasEnded.withLock { $0 = true }
        }
        await #expect(throws: CancellationError.self) { try await fault.during { throw CancellationError() } }
        #expect(hasEnded.withLock { $0 })
    }

    @Test func `A stopped process does nothing until it is resumed`() async throws {
        let process = Process()
        let (input, output) = (Pipe.separate(), Pipe.separate())
        process.executableURL = URL(fileURLWithPath: "/bin/cat")
        (process.standardInput, process.standardOutput) = (input, output)
        try process.start()
        let identifier = process.processIdentifier
        try await Fault.stopped("cat") { [identifier] }.during {
            // `T` is the state of a stopped process.
            let list = Process()
            let text = Pipe.separate()
            list.executableURL = URL(fileURLWithPath: "/bin/ps")
            list.arguments = ["-p", "\(identifier)", "-o", "stat="]
            list.standardOutput = text
            try list.start()
            #expect(await String(decoding: list.output(text), as: UTF8.self).hasPrefix("T"))
            try input.fileHandleForWriting.write(contentsOf: Data("late".utf8))
        }
        try input.fileHandleForWriting.close()
        #expect(await process.output(output) == Data("late".utf8))
    }
}
