#if Server
import NIOCore

/// The connection for which a task answers requests.
enum ServedConnection {
    /// Its event loop; `nil` for the routes of an application that has others as well.
    @TaskLocal static var eventLoop: (any EventLoop)?

    /// Waits until the connection has what was written to it, so that it can make the next write wait.
    ///
    /// A write returns when it is on the way to the event loop. Until the loop has seen it, more would be taken, and be
    /// kept in memory: on a busy machine tens of megabytes for one client, which could not read them in time.
    static func catchUp() async throws { try await eventLoop?.submit {}.get() }
}
#endif
