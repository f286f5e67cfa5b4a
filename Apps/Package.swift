// swift-tools-version: 6.2

import PackageDescription

/// The traits of Emporium. `bin/test` needs all, because it builds this package in the folder of the other one: then
/// the compiler gets the same options, and all modules are built once.
var traits: Set<Package.Dependency.Trait> {
    if Context.environment["EMPORIUM_ALL_TRAITS"] == nil {
        return ["CommandLineTool", "WebTokens", .trait(name: "Postgres", condition: .when(traits: ["Postgres"]))]
    }
    #if canImport(Darwin)
    return ["CommandLineTool", "Metrics", "Postgres", "Server", "WebTokens"]
    #else
    return ["CommandLineTool", "Metrics", "Postgres", "SecretService", "Server", "WebTokens"]
    #endif
}

// Programs on Emporium, which see only its public API. They are one package, so that what they depend on is built once.
let package = Package(
    name: "Apps",
    platforms: [.macOS(.v14)],
    products: [
        .executable(name: "gallery-demo", targets: ["GalleryDemo"]),
        .executable(name: "gallery-sync-demo", targets: ["GallerySyncDemo"]),
        .library(name: "EngineProfiler", targets: ["EngineProfiler"]),
        .executable(name: "profiler", targets: ["ProfilerCLI"]),
        .executable(name: "bench", targets: ["Bench"]),
        .executable(name: "coder-allocations", targets: ["CoderAllocations"]),
    ],
    traits: [
        .trait(name: "Postgres", description: "Also measures the engine for PostgreSQL, which needs libpq.")
    ],
    dependencies: [
        .package(name: "Emporium", path: "..", traits: traits),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: demo + profiler + benchmarks + examples + server,
    swiftLanguageModes: [.v6]
)

/// A gallery in the browser.
var demo: [Target] {
    [
        .target(
            name: "Gallery",
            dependencies: [
                "LocalServer",
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaSync", package: "Emporium"),
                .product(name: "Boutique", package: "Emporium"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Demo/Sources/Gallery",
            resources: [.copy("Web")]
        ),
        .target(
            name: "PictureAPI",
            dependencies: [
                "LocalServer",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Demo/Sources/PictureAPI"
        ),
        // Protects servers on this machine from the pages of websites.
        .target(
            name: "LocalServer",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ],
            path: "Demo/Sources/LocalServer"
        ),
        // The server of synchronized galleries. Its dependencies take minutes to build, so the demo without
        // synchronization does without them.
        .target(
            name: "GallerySync",
            dependencies: [
                "Gallery",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaRemote", package: "Emporium"),
                .product(name: "BodegaServer", package: "Emporium"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Demo/Sources/GallerySync"
        ),
        // What both programs share.
        .target(
            name: "GalleryCommand",
            dependencies: [
                "Gallery",
                "PictureAPI",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Demo/Sources/GalleryCommand"
        ),
        .executableTarget(
            name: "GalleryDemo",
            dependencies: [
                "Gallery",
                "GalleryCommand",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Demo/Sources/GalleryDemo"
        ),
        .executableTarget(
            name: "GallerySyncDemo",
            dependencies: [
                "Gallery",
                "GalleryCommand",
                "GallerySync",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Demo/Sources/GallerySyncDemo"
        ),
        .testTarget(
            name: "PictureAPITests",
            dependencies: [
                "PictureAPI",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Demo/Tests/PictureAPITests"
        ),
        // What the tests of the demo, the examples and the documentation site share: a browser, an HTTP client and the
        // processes of servers.
        .target(
            name: "Browsing",
            dependencies: [
                "Gallery",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Demo/Tests/Browsing"
        ),
        .testTarget(name: "DocumentationTests", dependencies: ["Browsing"], path: "Demo/Tests/DocumentationTests"),
        .testTarget(
            name: "GalleryTests",
            dependencies: [
                "Browsing",
                "Gallery",
                "PictureAPI",
                "GalleryDemo",
                "GallerySync",
                "GallerySyncDemo",
                "LocalServer",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaServer", package: "Emporium"),
                .product(name: "BodegaSync", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
                .product(name: "Boutique", package: "Emporium"),
                // SQLite's C API, to stop the demo in the middle of a transaction.
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Demo/Tests/GalleryTests"
        ),
    ]
}

/// Measures engines and stores as a user chooses.
var profiler: [Target] {
    [
        .target(
            name: "EngineProfiler",
            dependencies: [
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
                .product(name: "Boutique", package: "Emporium"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                // Only for the version of SQLite.
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Profiler/Sources/EngineProfiler"
        ),
        .executableTarget(
            name: "ProfilerCLI", dependencies: ["EngineProfiler"], path: "Profiler/Sources/ProfilerCLI"),
        // The program of a custom engine, as the README shows it.
        .executableTarget(
            name: "DictionaryProfiler",
            dependencies: ["EngineProfiler", .product(name: "Bodega", package: "Emporium")],
            path: "Profiler/Sources/DictionaryProfiler"
        ),
        .testTarget(
            name: "EngineProfilerTests",
            dependencies: [
                "DictionaryProfiler",
                "EngineProfiler",
                "ProfilerCLI",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
            ],
            path: "Profiler/Tests/EngineProfilerTests"
        ),
    ]
}

/// Ratios of the package's times to baselines.
var benchmarks: [Target] {
    [
        .target(name: "BenchHarness", path: "Benchmarks/Sources/BenchHarness"),
        .target(name: "CSync", path: "Benchmarks/Sources/CSync"),
        .target(name: "CAllocations", path: "Benchmarks/Sources/CAllocations"),
        .target(
            name: "CoderInputs", dependencies: [.product(name: "BodegaTesting", package: "Emporium")],
            path: "Benchmarks/Sources/CoderInputs"),
        // A separate program, because it replaces malloc with one that counts.
        .executableTarget(
            name: "CoderAllocations",
            dependencies: ["CAllocations", "CoderInputs", .product(name: "RecordCoder", package: "Emporium")],
            path: "Benchmarks/Sources/CoderAllocations"
        ),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "BenchHarness",
                "CSync",
                "CoderInputs",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaHTTP", package: "Emporium"),
                .product(name: "BodegaPostgres", package: "Emporium", condition: .when(traits: ["Postgres"])),
                .product(name: "BodegaRemote", package: "Emporium"),
                .product(name: "BodegaServer", package: "Emporium"),
                .product(name: "BodegaSync", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
                .product(name: "Boutique", package: "Emporium"),
                .product(name: "CodableStoreKit", package: "Emporium"),
                .product(name: "RecordCoder", package: "Emporium"),
                // SQLite's C API, from the same library that the engine is linked with.
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Sources/Bench",
            resources: [.copy("Caches/compiler-files.trace")]
        ),
        .testTarget(
            name: "BenchHarnessTests", dependencies: ["BenchHarness"], path: "Benchmarks/Tests/BenchHarnessTests"),
    ]
}

/// Tests of the server of collections. They are here, because the package itself is built without SwiftNIO.
var server: [Target] {
    [
        .testTarget(
            name: "BodegaServerTests",
            dependencies: [
                "Browsing",
                "SyncClient",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "bodega", package: "Emporium"),
                .product(name: "BodegaHTTP", package: "Emporium"),
                .product(name: "BodegaRemote", package: "Emporium"),
                .product(name: "BodegaServer", package: "Emporium"),
                .product(name: "BodegaSync", package: "Emporium"),
                .product(name: "BodegaTestSupport", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
                .product(name: "BodegaWebTokens", package: "Emporium"),
                .product(name: "Boutique", package: "Emporium"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Server/Tests/BodegaServerTests",
            exclude: ["Proxy/proxy.py", "Sync/cluster.py", "Sync/oracle.py", "Systemd/system-calls.py"]
        ),
        // A client of the server, in a process of its own.
        .executableTarget(
            name: "SyncClient",
            dependencies: [
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaRemote", package: "Emporium"),
                .product(name: "BodegaSync", package: "Emporium"),
            ],
            path: "Server/Tests/SyncClient"
        ),
    ]
}

/// Small programs.
var examples: [Target] {
    [
        .executableTarget(
            name: "Notes", dependencies: [.product(name: "Boutique", package: "Emporium")],
            path: "Examples/Sources/Notes"),
        .executableTarget(
            name: "Contacts", dependencies: [.product(name: "CodableStoreKit", package: "Emporium")],
            path: "Examples/Sources/Contacts"),
        .executableTarget(
            name: "NotesServer",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Examples/Sources/NotesServer"
        ),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "Browsing",
                "Contacts",
                "Notes",
                "NotesServer",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Examples/Tests/ExamplesTests"
        ),
    ]
}

for target in package.targets where !["CAllocations", "CSync"].contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
