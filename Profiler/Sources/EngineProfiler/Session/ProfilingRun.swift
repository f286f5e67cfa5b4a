import Foundation

/// A run from its beginning to its end: measures, shows how it goes, and removes what it has written, whatever happens.
struct ProfilingRun {
    /// What is to be done.
    let plan: Plan
    /// Programs whose engines are measured, too.
    let programs: [EngineProgram]
    /// Where temporary data goes; `nil` for the usual place.
    let directory: URL?
    /// Where it is shown how it goes.
    let terminal: Terminal

    /// Does everything.
    ///
    /// - Throws: An ``EngineFailure`` if an engine fails or is wrong, or a ``ProfilerError``.
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
            // It may have failed because what it works with was removed.
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
        // A place that is taken is found before others are measured for minutes.
        for subject in plan.subjects { try subject.place(orIn: temporary.folder).checkIsFree() }
        let stopwatch = try await Stopwatch.calibrated()
        let environment = Environment(folder: temporary.folder, clockOverhead: stopwatch.overhead)
        // A file of results has whole seconds.
        let date = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let session = Session(plan: plan, temporary: temporary, stopwatch: stopwatch) { view.show($0) }
        let engines = try await session.run()
        view.close()
        var profile = Profile(date: date, environment: environment, settings: plan.settings, engines: engines)
        for program in programs {
            let theirs = try program.run(plan.arguments(directory: temporary.folder), folder: temporary.folder)
            profile.environment.isOptimised = profile.environment.isOptimised && theirs.environment.isOptimised
            for engine in theirs.engines {
                guard !profile.engines.contains(where: { $0.name == engine.name }) else {
                    throw ProfilerError("Two engines are called \"\(engine.name)\". Give one of them another name.")
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
    /// - Parameter directory: Where it is to put its temporary data. Whoever removes that removes also what a program leaves that
    ///   has crashed.
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
