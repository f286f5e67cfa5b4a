import EngineProfiler

await Profiler.main(engine: "dictionary") { _ in DictionaryEngine() }
