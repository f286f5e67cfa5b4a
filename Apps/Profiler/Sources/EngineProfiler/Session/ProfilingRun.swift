import Foundation

/// A whole run: measures, shows the progress, and removes its data in any case.
struct ProfilingRun {
    /// The plan.
    let plan: Plan
    /// The programs whose engines are measured, too.
    let programs: [EngineProgram]
    /// The folder for temporary data; `nil` for the default.
    let directory: URL?
    /// The terminal for the progress.
    let terminal: Terminal

    /// Runs the plan.
    ///
    /// - Throws: An ``EngineFailure`` if an engine fails or returns a wrong result, or a ``ProfilerError``.
    func profile() async throws -> Profile {
        let temporary = try TemporaryData(in: directory)
        let start = ContinuousClock.now
        let view = LiveView(
            terminal,
            total: plan.subjects.count * plan.sizes.count * plan.operations.count,
            names: plan.subjects.map(\.name),
            now: { Double((ContinuousClock.now - start).nanoseconds) / 1e9 })
        let interruption = Interruption { [programs] in
            view.close()
            for program in programs { program.stop() }
            try temporary.remove()
        }
        defer { interruption.cancel() }
        let profile: Profile
        do {
            profile = try await measure(temporary, view)
        } catch {
            // The failure may be a consequence of an interruption, which removes the data.
            try interruption.unlessInterrupted {
                view.close()
                try temporary.remove()
            }
            throw error
        }
        try interruption.unlessInterrupted { try temporary.remove() }
        return profile
    }

    private func measure(_ temporary: TemporaryData, _ view: LiveView) async throws -> Profile {
        // Checked before the measurements, which take minutes.
        for subject in plan.subjects { try subject.place(orIn: temporary.folder).checkIsFree() }
        let stopwatch = try await Stopwatch.calibrated()
        let environment = Environment(folder: temporary.folder, clockOverhead: stopwatch.overhead)
        // A file of results contains whole seconds.
        let date = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let session = Session(plan: plan, temporary: temporary, stopwatch: stopwatch) { view.show($0) }
        let engines = try await session.run()
        view.close()
        var profile = Profile(date: date, environment: environment, settings: plan.settings, engines: engines)
        for program in programs {
            let theirs = try program.run(plan.arguments(directory: temporary.folder), folder: temporary.folder)
            profile.environment.isOptimized = profile.environment.isOptimized && theirs.environment.isOptimized
            for engine in theirs.engines {
                guard !profile.engines.contains(where: { $0.name == engine.name }) else {
                    throw ProfilerError("Two engines have the name \"\(engine.name)\". Rename one of them.")
                }
                profile.engines.append(engine)
            }
        }
        return profile
    }
}

extension Plan {
    /// The options with which another program measures its engines in the same way.
    ///
    /// - Parameter directory: The folder for its temporary data. The caller removes it, including the data of a program
    ///   that has crashed.
    func arguments(directory: URL) -> [String] {
        var arguments = [
            "--operations", operations.map(\.rawValue).joined(separator: ","),
            "--sizes", sizes.map(String.init).joined(separator: ","),
            "--value-bytes", String(valueBytes), "--batch", String(batch), "--concurrency", String(concurrency),
            "--durability", durability.rawValue, "--seed", String(seed),
        ]
        switch budget {
        case .time(let duration): arguments += ["--duration", Seconds(duration).description]
        case .calls(let calls): arguments += ["--repetitions", String(calls)]
        }
        if isQuick { arguments.append("--quick") }
        return arguments + ["--directory", directory.path]
    }
}
