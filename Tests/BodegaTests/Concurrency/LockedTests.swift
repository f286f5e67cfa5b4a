import Testing

@testable import Bodega

@Suite struct LockedTests {
    private struct Holder { var call: () -> Void }

    @Test func `A lock refuses functions that each access would wrap again`() {
        #expect(Locked<() -> Void>.grows)
        #expect(Locked<(@Sendable () -> Bool)?>.grows)
        #expect(Locked<(@MainActor @Sendable (Int) async throws -> [String])??>.grows)
        #expect(Locked<(number: Int, call: () -> Void)>.grows)
        #expect(Locked<(Int, (([Int]) -> Void)?)?>.grows)
    }

    @Test func `A lock accepts functions in structures, arrays and dictionaries, and all other values`() {
        #expect(!Locked<Holder>.grows && !Locked<Holder?>.grows)
        #expect(!Locked<[() -> Void]>.grows && !Locked<[@Sendable (Int) -> Bool]?>.grows)
        #expect(!Locked<[String: () -> Void]>.grows)
        #expect(
            !Locked<Int>.grows && !Locked<[Int]?>.grows && !Locked<(Int, [String: Int])?>.grows && !Locked<Void>.grows)
        #expect(!Locked<any Error>.grows && !Locked<CheckedContinuation<Void, any Error>?>.grows)
    }

    #if DEBUG
    @Test func `A lock with such a function ends the program`() async {
        await #expect(processExitsWith: .failure) { _ = Locked<(() -> Void)?>(nil) }
    }
    #endif

    @Test func `What a lock accepts is called as deep on the stack after many accesses as after one`() throws {
        let holder = Locked<Holder?>(Holder {})
        let depths = Locked<[Int]>([])
        holder.withLock { $0 = Holder { depths.withLock { $0.append(Self.stackPointer()) } } }
        for _ in 0..<1_000 { holder.withLock { $0 }?.call() }
        #expect(Set(depths.withLock { $0 }).count == 1)
    }

    @Test func `A pause asks its clock as deep on the stack after many accesses as after one`() {
        let clock = DepthClock()
        let pause = StoragePause(duration: .seconds(1), clock: clock)
        pause.begin()
        let first = clock.depths.withLock { $0.count }
        for _ in 0..<1_000 { #expect(pause.isActive) }
        let depths = clock.depths.withLock { $0.dropFirst(first) }
        #expect(depths.count == 1_000 && Set(depths).count == 1)
    }

    /// The address of a variable of the calling function.
    @inline(never) fileprivate static func stackPointer() -> Int {
        var variable = 0
        return withUnsafePointer(to: &variable) { Int(bitPattern: $0) }
    }
}

/// A clock that stands still, and notes how deep on the stack it is asked.
private struct DepthClock: Clock {
    let depths = Locked<[Int]>([])
    let minimumResolution = Duration.zero

    var now: ContinuousClock.Instant {
        depths.withLock { $0.append(LockedTests.stackPointer()) }
        return Self.start
    }

    private static let start = ContinuousClock().now

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}
