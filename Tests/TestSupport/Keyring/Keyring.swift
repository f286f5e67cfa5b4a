package import Foundation

/// A real secret service for tests: GNOME Keyring on a message bus of its own, with all files in a folder of its own.
/// Both are ended and their files are removed when this object is deinitialized or this process ends, even by a crash.
package final class Keyring: @unchecked Sendable {
    // @unchecked because each test uses its keyring in one task; the methods used here of `Process` are thread-safe.
    private let folder: URL
    private let watchdog: KeyringWatchdog
    private var bus: Process?
    private var service: Process?

    private static let password = "pa55:w0rd/of@tests"

    /// The address of the bus.
    package let address: String

    /// Starts a bus and its secret service with an unlocked, empty keyring.
    ///
    /// - Parameters:
    ///   - hasService: Whether to start the service, too.
    ///   - policy: Rules of the bus, as in its configuration file.
    package init(hasService: Bool = true, policy: String = "") async throws {
        let temporary = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        folder = temporary.appendingPathComponent("keyring-\(UInt32.random(in: .min ... .max))")
        address = "unix:path=\(folder.path)/bus"
        for name in ["", "home", "data", "run"] {
            let url = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        watchdog = try KeyringWatchdog(over: folder)
        try Data(configuration(policy).utf8).write(to: folder.appendingPathComponent("bus.conf"))
        bus = try start("dbus-daemon", ["--nofork", "--nosyslog", "--config-file=\(folder.path)/bus.conf"])
        try await waitUntil("the bus accepts connections", within: .seconds(60)) {
            try checkRunning(bus, "dbus-daemon")
            return try await askForService().status == 0
        }
        if hasService { try await startService() }
    }

    deinit {
        watchdog.release()
    }

    /// Starts the service.
    ///
    /// - Parameter isUnlocked: Whether to unlock the default collection, and create it if there is none.
    package func startService(isUnlocked: Bool = true) async throws {
        let arguments = ["--foreground", "--components=secrets"] + (isUnlocked ? ["--unlock"] : [])
        service = try start("gnome-keyring-daemon", arguments, input: isUnlocked ? Self.password : "")
        try await waitUntil("the secret service is on the bus", within: .seconds(60)) {
            try checkRunning(service, "gnome-keyring-daemon")
            return try await askForService().text.contains("true")
        }
    }

    /// Ends the service.
    package func endService() async throws {
        try await end(service)
        service = nil
    }

    /// Ends the bus.
    package func endBus() async throws {
        try await end(bus)
        bus = nil
    }

    /// Sends the service a signal.
    package func signalService(_ signal: ProcessSignal) {
        if let service { signal.send(to: service.processIdentifier) }
    }

    /// Sends the bus a signal.
    package func signalBus(_ signal: ProcessSignal) {
        if let bus { signal.send(to: bus.processIdentifier) }
    }

    /// Locks the default collection.
    package func lock() async throws {
        _ = try await send(
            "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock",
            "array:objpath:/org/freedesktop/secrets/aliases/default"
        ).checked()
    }

    /// The variables for programs that use the keyring.
    package var environment: [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": address, "HOME": folder.appendingPathComponent("home").path,
            "XDG_DATA_HOME": dataFolder.path, "XDG_RUNTIME_DIR": folder.appendingPathComponent("run").path,
        ]
    }

    /// The user's folder for the data of programs.
    package var dataFolder: URL { folder.appendingPathComponent("data") }
}

extension Keyring {

    private func start(_ program: String, _ arguments: [String], input: String = "") throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = folder
        let feed = Pipe.separate()
        process.standardInput = feed
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try feed.fileHandleForWriting.close()
        try watchdog.watch([bus, service, process].compactMap { $0 }.filter(\.isRunning).map(\.processIdentifier))
        return process
    }

    private func checkRunning(_ process: Process?, _ name: String) throws {
        if process?.isRunning == true { return }
        throw PostgresServerError(
            """
            \(name) does not start. If it is missing: `sudo apt-get install gnome-keyring dbus`. bin/test installs \
            both.
            """
        )
    }

    private func end(_ process: Process?) async throws {
        guard let process else { return }
        ProcessSignal.kill.send(to: process.processIdentifier)
        try await waitUntil("a process of the keyring has ended") { !process.isRunning }
        let others = [bus, service].compactMap { $0 }.filter { $0 !== process && $0.isRunning }
        try watchdog.watch(others.map(\.processIdentifier))
    }

    /// Asks the bus whether it has a secret service.
    private func askForService() async throws -> ProgramCall.Result {
        try await send(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner",
            "string:org.freedesktop.secrets")
    }

    private func send(
        _ destination: String, _ path: String, _ method: String, _ argument: String
    ) async throws -> ProgramCall.Result {
        let arguments = ["--bus=\(address)", "--print-reply", "--dest=\(destination)", path, method, argument]
        return try await ProgramCall(URL(fileURLWithPath: "/usr/bin/env"), ["dbus-send"] + arguments).run()
    }

    /// The configuration of a bus that starts no services.
    private func configuration(_ policy: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
            \(policy)
          </policy>
        </busconfig>
        """
    }
}
