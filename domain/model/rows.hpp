// SPDX-License-Identifier: Apache-2.0
// The durable facts of an aggregate as plain rows: what the ledger stores and an owner loads. No behaviour.
#pragma once
#include "domain/model/checkin_rows.hpp"
#include "domain/model/event_rows.hpp"
#include "domain/model/installation_rows.hpp"
#include "domain/model/log_rows.hpp"
#include "domain/model/sale_rows.hpp"
#include "domain/model/seat_rows.hpp"
#include "domain/model/statistics_rows.hpp"
