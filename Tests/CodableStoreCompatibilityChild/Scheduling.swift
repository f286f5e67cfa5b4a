import CodableStoreKit
import Foundation

/// As in an app: the main thread runs the main loop, and other threads save.
func observeInMainLoop() {
    User.observeCollection { event in
        print("saved", event.object.id, Thread.isMainThread)
        if event.object.id == "1" { save("2", "3") }
        if event.object.id == "3" { exit(0) }
    }
    // Called only while the loop runs.
    RunLoop.main.perform {
        DispatchQueue.global().async { save("1") }
    }
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 60))
}

/// As in a command-line program: the main thread waits for other threads.
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
