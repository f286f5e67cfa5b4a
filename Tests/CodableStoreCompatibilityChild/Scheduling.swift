import CodableStoreKit
import Foundation

/// Behaves like an app: the main thread runs the main run loop, and other threads save.
func observeInMainLoop() {
    User.observeCollection { event in
        print("saved", event.object.id, Thread.isMainThread)
        if event.object.id == "1" { save("2", "3") }
        if event.object.id == "3" { exit(0) }
    }
    // Runs after the loop has started.
    RunLoop.main.perform {
        save("0")
        DispatchQueue.global().async { save("1") }
    }
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 60))
}

/// Behaves like a command-line program whose main thread runs its run loop, and waits for other threads after it.
func observeAfterMainLoop() {
    let isDone = DispatchSemaphore(value: 0)
    User.observeCollection { event in
        print("saved", event.object.id, Thread.isMainThread)
        if event.object.id == "1" { save("2", "3") }
        if event.object.id == "3" { isDone.signal() }
    }
    nonisolated(unsafe) var hasRun = false
    RunLoop.main.perform {
        save("0")
        hasRun = true
    }
    while !hasRun { RunLoop.main.run(until: Date()) }
    DispatchQueue.global().async { save("1") }
    print(isDone.wait(timeout: .now() + 60) == .success)
}

/// Behaves like a command-line program whose main thread waits for other threads.
func observeWithoutMainLoop() {
    let isDone = DispatchSemaphore(value: 0)
    User.observeCollection { event in
        print("saved", event.object.id, Thread.isMainThread)
        if event.object.id == "2" { isDone.signal() }
    }
    DispatchQueue.global().async { save("1", "2") }
    print(isDone.wait(timeout: .now() + 60) == .success)
}

private func save(_ identifiers: String...) {
    for result in CodableStore<User>(engine: .inMemory).save(
        identifiers.map { User(id: $0, firstName: "", lastName: "") })
    {
        if case .failure(let identifier, let error) = result { print(identifier, error) }
    }
}
