import Dispatch
import Foundation

/// Runs a closure that blocks, such as a read of a pipe, on a thread of its own.
///
/// On Linux, libdispatch has one thread per processor, on which Swift's tasks run, too. If these threads block,
/// libdispatch starts another one only after a second, and all tests of the process wait.
package func blocking<Value: Sendable, Failure: Error>(
    _ call: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
        Thread.detachNewThread {
            do throws(Failure) {
                continuation.resume(returning: .success(try call()))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
    return try result.get()
}

extension DispatchGroup {
    /// Runs a closure that blocks on a thread of its own, as a member of the group.
    func block(_ call: @escaping @Sendable () -> Void) {
        enter()
        Thread.detachNewThread {
            call()
            self.leave()
        }
    }
}
