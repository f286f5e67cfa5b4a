#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A result that does not match the statements of its batch.
private enum Violation: CaseIterable {
    case endedEarly
    case surplusResult
    case wrongKind

    var message: String {
        switch self {
        case .endedEarly: PostgresFailure.endedEarly
        case .surplusResult: PostgresFailure.surplusResult
        case .wrongKind: PostgresFailure.wrongKind
        }
    }

    /// The server's messages for a batch of one statement.
    var bytes: [UInt8] {
        let described = message("1") + message("2") + message("n")
        let complete = message("C", Array("SELECT 0\0".utf8))
        return switch self {
        case .endedEarly: Self.ready
        case .surplusResult: described + complete + complete + Self.ready
        case .wrongKind: described + message("I") + Self.ready
        }
    }

    static let ready = message("Z", Array("I".utf8))

    static func message(_ type: Unicode.Scalar, _ body: [UInt8] = []) -> [UInt8] {
        [UInt8(ascii: type), 0, 0, 0, UInt8(body.count + 4)] + body
    }

    private func message(_ type: Unicode.Scalar, _ body: [UInt8] = []) -> [UInt8] { Self.message(type, body) }
}

@Suite("A violation of the protocol")
struct ProtocolViolationTests {

    private let command = Command(Statement("SELECT"))

    /// A pool of connections to a server that accepts one connection and violates the protocol in its first batch.
    private func pool(_ violation: Violation) throws -> SessionPool {
        let (listener, port) = try Loopback.listen()
        Thread {
            defer { close(listener) }
            _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
            guard let socket = Loopback.accept(on: listener) else { return }
            defer { close(socket) }
            _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK)
            var buffer = [UInt8](repeating: 0, count: 4_096)
            var received: [UInt8] = []
            var hasStarted = false
            while case let count = read(socket, &buffer, buffer.count), count > 0 {
                received += buffer.prefix(count)
                var answer: [UInt8] = []
                if !hasStarted {
                    // The startup message begins with its length.
                    guard received.count >= 4, received.count >= Int(received[2]) << 8 | Int(received[3]) else {
                        continue
                    }
                    answer = Violation.message("R", [0, 0, 0, 0]) + Violation.ready
                    hasStarted = true
                } else {
                    guard received.suffix(5) == [UInt8(ascii: "S"), 0, 0, 0, 4] else { continue }
                    answer = violation.bytes
                }
                received = []
                _ = write(socket, answer, answer.count)
            }
        }.start()
        let url = "postgres://user@127.0.0.1:\(port)/database?sslmode=disable&gssencmode=disable"
        return SessionPool(target: try ConnectionTarget(url), limit: 1, connectTimeout: 60)
    }

    private func check(_ failure: PostgresFailure?, _ violation: Violation) throws {
        let failure = try #require(failure)
        #expect(failure.kind == .outOfStep)
        #expect(failure.message == violation.message)
        #expect(failure.isOutage, "The operation is repeated on another connection.")
        #expect((StorageError.postgres(failure) as? StorageError)?.code == .inputOutput)
    }

    @Test("fails a batch and makes its session unusable", arguments: Violation.allCases)
    fileprivate func session(violation: Violation) async throws {
        let session = try await pool(violation).makeSession(until: .after(60))
        let failure = await #expect(throws: PostgresFailure.self) { try await session.run(command, patience: 60) }
        try check(failure, violation)
        #expect(!session.isUsable)
    }

    @Test("fails the reads of a lane", arguments: [Violation.endedEarly, .wrongKind])
    fileprivate func lane(violation: Violation) async throws {
        let lane = ReadLane(pool: try pool(violation))
        let failure = await #expect(throws: PostgresFailure.self) {
            try await lane.run(ReadLane.Read(command, until: .after(60)))
        }
        try check(failure, violation)
        lane.close()
    }

    @Test("after the result of a read closes the connection of the lane")
    func surplusResultInLane() async throws {
        let lane = ReadLane(pool: try pool(.surplusResult))
        let result = try await lane.run(ReadLane.Read(command, until: .after(60)))
        #expect(result.count == 0)
        // The server accepts no second connection.
        let failure = await #expect(throws: PostgresFailure.self) {
            try await lane.run(ReadLane.Read(command, until: .after(60)))
        }
        #expect(failure?.isOutage == true && failure?.kind != .outOfStep)
        lane.close()
    }
}
#endif
