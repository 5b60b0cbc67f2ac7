# The map of the house: every folder of C++ sources is a library, and USES lists the only folders that it may include.
# CMake links by this list and scripts/lint checks every #include against it. LINK: third-party libraries. ALONE, APART, COLD: see fq_folder.
# A folder may use only folders above it. A new edge is a design decision: say why in the commit.

# -- domain: pure rules over the standard library --------------------------------------------------------------
fq_folder(domain/base)
fq_folder(domain/model USES domain/base)
fq_folder(domain/line USES domain/base domain/model)
fq_folder(domain/money USES domain/model)
fq_folder(domain/delivery USES domain/base domain/model domain/money)
fq_folder(domain/seats USES domain/base)
fq_folder(domain/sale USES domain/base domain/model domain/line domain/money domain/delivery domain/seats)
fq_folder(domain/cluster USES domain/base domain/model)

# -- keys and options ------------------------------------------------------------------------------------------
fq_folder(crypto USES domain/base domain/model
          LINK OpenSSL::Crypto PkgConfig::NETTLE PkgConfig::SODIUM PkgConfig::CJOSE Boost::json)
fq_folder(fair USES domain/base domain/model domain/line crypto LINK Boost::headers PkgConfig::SODIUM)
fq_folder(config COLD USES domain/base LINK CLI11::CLI11 Boost::url)

# -- paper: PDF and QR codes, from plain structs ----------------------------------------------------------------
fq_folder(print/qr COLD LINK PkgConfig::QRCODE)
fq_folder(print COLD USES domain/base print/qr LINK PkgConfig::PANGOCAIRO PkgConfig::TURBOJPEG PkgConfig::WEBP ALONE report_pdf)

# -- stores: the ledger and cache ports, and their engines -----------------------------------------------------
fq_folder(store/port USES domain/base domain/model domain/line domain/delivery)
fq_folder(store/memory COLD USES domain/base store/port)
fq_folder(store/sqlite USES domain/base domain/model store/port LINK SQLite::SQLite3
          ALONE sqlite_reader sqlite_ledger)
fq_folder(store/postgres USES domain/base domain/model store/port LINK PkgConfig::PQ
          ALONE postgres_ledger)
fq_folder(store/redis USES domain/base store/port LINK PkgConfig::HIREDIS Boost::url OpenSSL::SSL)

# -- what people see of an event's facts ------------------------------------------------------------------------
fq_folder(display USES domain/base LINK PkgConfig::ICU PkgConfig::CMARK ${ICAL_LIBRARY} ${DATE_TZ_LIBRARY})

# -- other people's services -----------------------------------------------------------------------------------
fq_folder(outbound COLD USES display domain/base domain/model domain/money domain/delivery crypto
          LINK SQLite::SQLite3 CURL::libcurl Boost::json Boost::url PkgConfig::GMIME PkgConfig::NATS PkgConfig::CTEMPLATE)

# -- actors: who does what and when ----------------------------------------------------------------------------
fq_folder(actors/protocol USES domain/base domain/model domain/line domain/sale store/port outbound LINK caf_core)
fq_folder(actors/base USES domain/base domain/model domain/delivery domain/sale crypto actors/protocol)
fq_folder(actors/storage USES domain/base domain/sale fair store/port actors/protocol actors/base)
fq_folder(actors/payments USES domain/base domain/money crypto outbound actors/protocol actors/base)
fq_folder(actors/sale
          USES domain/base domain/model domain/line domain/delivery domain/seats domain/sale domain/cluster crypto fair
               actors/protocol actors/base actors/storage
          LINK Boost::json)
fq_folder(actors/cluster COLD USES domain/base domain/cluster actors/protocol actors/base actors/storage actors/sale)
fq_folder(actors/directory USES domain/base domain/sale crypto outbound actors/protocol actors/base actors/storage)
fq_folder(actors/outbox COLD
          USES domain/base domain/delivery fair outbound actors/protocol actors/base actors/storage actors/payments
          LINK Boost::json)

# -- net: HTTP and WebSocket in. http, bridge, wire, websocket and server know no route ------------------------
fq_folder(web EXTERNAL)
fq_folder(net/http USES domain/base domain/model config LINK Boost::headers OpenSSL::SSL)
fq_folder(net/bridge USES domain/base domain/line domain/sale crypto config actors/protocol actors/base net/http)
fq_folder(net/wire USES domain/base domain/seats domain/sale crypto store/port actors/protocol net/http LINK Boost::json)
fq_folder(net/websocket USES domain/base domain/model domain/line net/http net/bridge net/wire)
fq_folder(net/server USES domain/base config net/http net/bridge net/websocket LINK OpenSSL::SSL spdlog::spdlog)
fq_folder(net/service
          USES domain/base domain/model domain/sale crypto fair config store/port store/redis outbound
               actors/protocol actors/base net/http net/bridge net/wire
          LINK PkgConfig::PROMETHEUS)
fq_folder(net/api
          USES domain/base domain/seats display domain/line domain/money domain/delivery domain/sale crypto fair print print/qr outbound
               actors/base
               actors/payments net/http net/bridge net/wire net/service
          LINK Boost::json Boost::url spdlog::spdlog)
fq_folder(net/pages
          USES display domain/base domain/model domain/money domain/delivery domain/sale crypto config store/port outbound print print/qr web
               net/http net/bridge net/wire net/service
          LINK Boost::json PkgConfig::CTEMPLATE)
fq_folder(net/ops COLD USES net/http net/bridge net/service net/pages)
fq_folder(net/site USES net/http net/bridge net/service net/api net/pages net/ops)

# -- the program -----------------------------------------------------------------------------------------------
fq_folder(app COLD
          USES display domain/base domain/model domain/delivery domain/sale crypto fair config store/port store/memory
               store/sqlite store/postgres store/redis outbound actors/protocol actors/base actors/storage
               actors/payments actors/sale actors/cluster actors/directory actors/outbox
               net/http net/bridge net/wire net/server net/service net/pages net/site
          LINK caf_io OpenSSL::SSL PkgConfig::SYSTEMD CURL::libcurl spdlog::spdlog Boost::json
          WITHOUT app/main.cpp
          ALONE release)

# -- fairqueue-load: simulated fans and the checker of what they saw. Includes nothing of the server -----------
fq_folder(load/base LINK Boost::headers Boost::json Boost::url OpenSSL::Crypto PkgConfig::NETTLE)
fq_folder(load/wire USES load/base)
fq_folder(load/fans USES load/base load/wire)
fq_folder(load/checks USES load/base)
fq_folder(load/report USES load/fans load/checks)
fq_folder(load USES load/base load/fans load/checks load/report EXTERNAL)
